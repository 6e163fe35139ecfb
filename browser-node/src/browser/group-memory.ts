import { readdir, readFile } from 'node:fs/promises';

const PAGE_BYTES = 4096;

/**
 * Bytes of memory that the lasting processes of a process group hold: all but Chromium's renderers, which come and go with their
 * pages. null where the system has no /proc.
 */
export async function lastingMemory(groupId: number): Promise<number | null> {
  const entries = await readdir('/proc').catch(() => null);
  if (!entries) return null;
  const pids = entries.filter((name) => /^\d+$/.test(name));
  const sizes = await Promise.all(pids.map((pid) => residentBytes(pid, groupId)));
  return sizes.reduce((sum, bytes) => sum + bytes, 0);
}

async function residentBytes(pid: string, groupId: number): Promise<number> {
  const process = await readProcess(pid);
  if (process?.groupId !== groupId) return 0;
  return (await isRenderer(pid)) ? 0 : process.bytes;
}

/** The process group of a process and the bytes of memory that it holds; null = it has ended. */
export async function readProcess(pid: string): Promise<{ groupId: number; bytes: number } | null> {
  const stat = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => null);
  if (stat === null) return null;
  // After the name in parentheses: state, parent, group, ...; resident pages is the 24th field of all (proc_pid_stat(5)).
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return { groupId: Number(fields[2]), bytes: Number(fields[21]) * PAGE_BYTES };
}

/** Whether a process shows pages, by its command line. */
export async function isRenderer(pid: string): Promise<boolean> {
  return (await readFile(`/proc/${pid}/cmdline`, 'latin1').catch(() => '')).includes('--type=renderer');
}
