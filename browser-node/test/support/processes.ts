import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { withDeadline } from '@adsweep/shared/service/with-deadline.ts';

/** Processes of a process group that are not over; zombies are. */
export async function groupMembers(groupId: number): Promise<string[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const members = await Promise.all(pids.map(async (pid) => ((await isMember(pid, groupId)) ? pid : '')));
  return members.filter((pid) => pid !== '');
}

/** Resolves when nothing of a process group is left. */
export async function groupEnded(groupId: number): Promise<void> {
  const ended = async () => {
    while ((await groupMembers(groupId)).length > 0) await pause(20);
  };
  await withDeadline(ended(), 10_000, `the end of process group ${groupId}`);
}

async function isMember(pid: string, groupId: number): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => '');
  const [state, , group] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return Number(group) === groupId && state !== 'Z';
}
