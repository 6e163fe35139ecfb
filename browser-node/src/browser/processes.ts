import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';

/** The clock ticks per second of /proc on Linux. */
const TICKS_PER_SECOND = 100;
const PAGE_BYTES = 4096;

/** Process ids of this machine; none where the system has no /proc. */
export function processIds(): string[] {
  try {
    return readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  } catch {
    return [];
  }
}

/** The fields of proc_pid_stat(5) from the third on; none once the process has ended. */
function fieldsOf(stat: string): string[] {
  // The second field is a name in parentheses, which may contain anything.
  return stat === '' ? [] : stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

/** The process group of a process; null = it has ended. */
export const groupOf = (pid: number | string): number | null => {
  const group = fieldsOf(readProc(pid, 'stat'))[2];
  return group === undefined ? null : Number(group);
};

/** The CPU time of all threads of a process: fields 14 and 15. Pure. */
export function cpuSecondsIn(text: string): number {
  const stat = fieldsOf(text);
  return (Number(stat[11] ?? 0) + Number(stat[12] ?? 0)) / TICKS_PER_SECOND;
}

/** Bytes of memory that a process holds, and those of them that it shares with no other; 0 once it has ended. */
export type Memory = { resident: number; own: number };

/** From the second and third fields of proc_pid_statm(5), which is cheaper to read than stat. Pure. */
export function memoryIn(statm: string): Memory {
  const [, resident = 0, shared = 0] = statm.split(' ').map(Number);
  return { resident: resident * PAGE_BYTES, own: (resident - shared) * PAGE_BYTES };
}

const residentBytes = (pid: number | string): number => memoryIn(readProc(pid, 'statm')).resident;

/** The type of a Chromium process: `renderer`, `zygote`, `utility`...; '' = it is the browser process, or has ended. */
export const processType = (pid: number | string): string =>
  /--type=([a-z-]+)/.exec(readProc(pid, 'cmdline'))?.[1] ?? '';

export const isNetworkService = (pid: number): boolean =>
  readProc(pid, 'cmdline').includes('network.mojom.NetworkService');

/**
 * Bytes of memory of a process group's long-lived processes: all but Chromium's renderers, which start and end with
 * their pages. null where the system has no /proc.
 */
export function longLivedMemory(groupId: number): number | null {
  const pids = processIds();
  if (pids.length === 0) return null;
  const longLived = pids.filter((pid) => groupOf(pid) === groupId && processType(pid) !== 'renderer');
  return longLived.reduce((sum, pid) => sum + residentBytes(pid), 0);
}

/**
 * '' once the process has ended. Synchronous: /proc never waits for a disk, and the thread pool would cost three times
 * as much CPU.
 */
export function readProc(pid: number | string, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1');
  } catch {
    return '';
  }
}

/** The last of all, for setpriority(2). */
export const LOWEST_PRIORITY = 19;

/** Linux has a priority for each thread; threads that start later inherit it. */
export function lowerPriority(pid: number, nice: number): void {
  for (const thread of threadsOf(pid)) lowerThreadPriority(thread, nice);
}

/** Without effect once the thread has ended, or if it belongs to another user. */
export function lowerThreadPriority(thread: number, nice: number): void {
  try {
    setPriority(thread, nice);
  } catch {
    // It has ended, or belongs to another user.
  }
}

/** The ids of a process's threads; none: it has ended. */
export function threadsOf(pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).map(Number);
  } catch {
    return [];
  }
}

/** The name of a process's autogroup; '' where there are none. */
const autogroupOf = (pid: number | string): string => readProc(pid, 'autogroup').split(' ')[0] ?? '';

/**
 * Lowers the priority of the session that a process belongs to, unless it is ours. With autogroups (sched(7)), Linux
 * divides the CPU among sessions first, and priorities count only within one. Without effect where there are none, as in
 * containers.
 */
export function lowerSessionPriority(pid: number, nice: number): void {
  const theirs = autogroupOf(pid);
  if (theirs === '' || theirs === autogroupOf('self')) return;
  try {
    writeFileSync(`/proc/${pid}/autogroup`, String(nice));
  } catch {
    // The process has ended meanwhile, or belongs to another user.
  }
}

/** Without effect once the process has ended. */
export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It has ended.
  }
}
