import { createContext, Script } from 'node:vm';

const call = new Script('work()');
const context = createContext({ work: () => undefined });

/**
 * What `work` returns. Throws `ERR_SCRIPT_EXECUTION_TIMEOUT` when it does not return within `ms`: V8 ends it wherever it is, in an
 * endless loop or in a regular expression that backtracks. For pure functions alone, as whatever it was changing stays half done.
 */
export function runWithin<T>(ms: number, work: () => T): T {
  context.work = work;
  try {
    return call.runInContext(context, { timeout: ms }) as T;
  } finally {
    context.work = undefined;
  }
}
