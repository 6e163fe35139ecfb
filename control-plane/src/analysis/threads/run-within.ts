import { createContext, Script } from 'node:vm';

const call = new Script('work()');
const context = createContext({ work: () => undefined });

/** Time that this thread did not run for, because its process or the whole machine was paused, takes a try and not the verdict. */
const TRIES_MAX = 3;

/**
 * What `work` returns. Throws `ERR_SCRIPT_EXECUTION_TIMEOUT` when it does not return within `ms`: V8 ends it wherever it is, in an
 * endless loop or in a regular expression that backtracks. V8 goes by the clock: work that had less than half of that time on a processor
 * is begun again. For pure functions alone, as whatever it was changing stays half done.
 */
export function runWithin<T>(ms: number, work: () => T): T {
  const before = process.threadCpuUsage();
  for (let tries = 1; ; tries += 1) {
    try {
      return runOnce(ms, work);
    } catch (error) {
      const { user, system } = process.threadCpuUsage(before);
      const hadItsTime = (user + system) / 1_000 >= ms / 2;
      if ((error as NodeJS.ErrnoException).code !== TIMED_OUT || hadItsTime || tries === TRIES_MAX) throw error;
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
