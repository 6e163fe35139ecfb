import { readdirSync } from 'node:fs';
import { readProc } from './processes.ts';

/**
 * What a thread of a worker or worklet that is running, or waits for a CPU, has in proc_pid_stat(5): its name, of which
 * Linux keeps 15 characters, and its state.
 */
const RUNNING_WORKER = /^\d+ \((?:(?:Dedicated|Shared|Service)Worker|[^)]*AudioWo).*\) R /;
const RUNNING = /\) R /;

/** How many threads of this machine are running or wait for a CPU; 0 where the system has no /proc. */
function runningThreads(): number {
  return Number(/ (\d+)\/\d+ /.exec(readProc('.', 'loadavg'))?.[1] ?? 0);
}

/**
 * How many threads of workers in these processes are running or wait for a CPU, with the main threads beside them that
 * do; 0: fewer than `least`. However little of a CPU they get.
 */
export function busyWorkers(pids: readonly number[], least: number): number {
  if (runningThreads() < least) return 0;
  let sum = 0;
  for (const pid of pids) {
    const workers = threadsOf(pid).filter((tid) => RUNNING_WORKER.test(readProc(pid, `task/${tid}/stat`))).length;
    if (workers > 0) sum += workers + (RUNNING.test(readProc(pid, `task/${pid}/stat`)) ? 1 : 0);
  }
  return sum >= least ? sum : 0;
}

function threadsOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch {
    return [];
  }
}
