import { createContext, Script } from 'node:vm';

const call = new Script('work()');
const context = createContext({ work: () => undefined });

/** Attempts: a timeout may come from a pause of the process or the machine, and the work itself may be fast. */
const ATTEMPTS_MAX = 3;

/**
 * Returns what `work` returns. Throws `ERR_SCRIPT_EXECUTION_TIMEOUT` if it does not return within `ms`: V8 interrupts
 * it anywhere, also in an endless loop or a backtracking regular expression. V8 measures elapsed time, so work that had
 * less than half of `ms` on a processor is started again. Only for pure functions: what an interrupted function was
 * changing stays half changed.
 */
export function runWithin<T>(ms: number, work: () => T): T {
  const before = process.threadCpuUsage();
  for (let attempt = 1; ; attempt += 1) {
    try {
      return runOnce(ms, work);
    } catch (error) {
      const { user, system } = process.threadCpuUsage(before);
      const usedItsTime = (user + system) / 1_000 >= ms / 2;
      if ((error as NodeJS.ErrnoException).code !== TIMED_OUT || usedItsTime || attempt === ATTEMPTS_MAX) throw error;
    }
  }
}

const TIMED_OUT = 'ERR_SCRIPT_EXECUTION_TIMEOUT';

function runOnce<T>(ms: number, work: () => T): T {
  context.work = work;
  try {
    return call.runInContext(context, { timeout: ms }) as T;
  } finally {
    context.work = undefined;
  }
}
