import { readProc, threadsOf } from './processes.ts';

/**
 * What a thread of a worker, a worklet or an OfflineAudioContext that is running, or waits for a CPU, has in
 * proc_pid_stat(5): its name, of which Linux keeps 15 characters, and its state.
 */
const RUNNING_WORKER = /^\d+ \((?:(?:Dedicated|Shared|Service)Worker|OfflineAudio|[^)]*AudioWo).*\) R /;

/** How many threads of this machine are running or wait for a CPU; 0 where the system has no /proc. */
function runningThreads(): number {
  return Number(/ (\d+)\/\d+ /.exec(readProc('.', 'loadavg'))?.[1] ?? 0);
}

/**
 * The ids of the threads of workers in these processes that are running or wait for a CPU, however little of it they
 * get; none if they are fewer than `least`.
 */
export function busyWorkers(pids: readonly number[], least: number): number[] {
  if (runningThreads() < least) return [];
  const busy = pids.flatMap((pid) =>
    threadsOf(pid).filter((id) => RUNNING_WORKER.test(readProc(pid, `task/${id}/stat`))),
  );
  return busy.length >= least ? busy : [];
}
