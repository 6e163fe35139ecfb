import { readdirSync, readFileSync } from 'node:fs';

const PAGE_BYTES = 4096;

/** Process ids of this machine; none where the system has no /proc. */
export function processIds(): string[] {
  try {
    return readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  } catch {
    return [];
  }
}

/**
 * Bytes of memory that the lasting processes of a process group hold: all but Chromium's renderers, which come and go with their
 * pages. null where the system has no /proc.
 */
export function lastingMemory(groupId: number): number | null {
  const pids = processIds();
  if (pids.length === 0) return null;
  const lasting = pids.filter((pid) => groupOf(pid) === groupId && processType(pid) !== 'renderer');
  return lasting.reduce((sum, pid) => sum + residentBytes(pid), 0);
}

/** The process group of a process; null = it has ended. */
export function groupOf(pid: number | string): number | null {
  const stat = readProc(pid, 'stat');
  // After the name in parentheses: state, parent, group (proc_pid_stat(5)).
  return stat === '' ? null : Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[2]);
}

/** Bytes of memory that a process holds, 0 once it has ended: the second field of proc_pid_statm(5), which costs less to ask for than stat. */
export const residentBytes = (pid: number | string): number =>
  Number(readProc(pid, 'statm').split(' ')[1] ?? 0) * PAGE_BYTES;

/** What a process of Chromium's does: `renderer`, `zygote`, `utility`...; '' = it is the browser's own, or has ended. */
export const processType = (pid: number | string): string =>
  /--type=([a-z-]+)/.exec(readProc(pid, 'cmdline'))?.[1] ?? '';

/** '' once the process has ended. Nothing of /proc waits for a disk: asking for it by the thread pool costs three times as much CPU. */
function readProc(pid: number | string, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1');
  } catch {
    return '';
  }
}
