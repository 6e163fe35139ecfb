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
  return pids.reduce((sum, pid) => sum + residentBytes(pid, groupId), 0);
}

function residentBytes(pid: string, groupId: number): number {
  const process = readProcess(pid);
  return process?.groupId === groupId && !isRenderer(pid) ? process.bytes : 0;
}

/** The process group of a process and the bytes of memory that it holds; null = it has ended. */
export function readProcess(pid: string): { groupId: number; bytes: number } | null {
  const stat = readProc(pid, 'stat');
  if (stat === '') return null;
  // After the name in parentheses: state, parent, group, ...; resident pages is the 24th field of all (proc_pid_stat(5)).
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return { groupId: Number(fields[2]), bytes: Number(fields[21]) * PAGE_BYTES };
}

/** Whether a process shows pages, by its command line. */
export const isRenderer = (pid: string): boolean => readProc(pid, 'cmdline').includes('--type=renderer');

/** '' once the process has ended. Nothing of /proc waits for a disk: asking for it by the thread pool costs three times as much CPU. */
function readProc(pid: string, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1');
  } catch {
    return '';
  }
}
