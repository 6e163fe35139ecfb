import { readdir, readFile } from 'node:fs/promises';
import { until } from '../../../shared/test/support/until.ts';

/** Processes of a process group that are not over; zombies are. */
export async function groupMembers(groupId: number): Promise<string[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const members = await Promise.all(pids.map(async (pid) => ((await isMember(pid, groupId)) ? pid : '')));
  return members.filter((pid) => pid !== '');
}

/** Resolves when nothing of a process group is left. */
export async function groupEnded(groupId: number): Promise<void> {
  await until(`the end of process group ${groupId}`, async () => (await groupMembers(groupId)).length === 0, 10);
}

async function isMember(pid: string, groupId: number): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => '');
  const [state, , group] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return Number(group) === groupId && state !== 'Z';
}
