import type { Store } from '../../src/platform/store.ts';
import { wrappedStore } from './wrapped-store.ts';

type Run = (...of: never[]) => Promise<unknown>;

/**
 * Runs `run` before each call of this method of the collection until the function it returns is called; where it
 * rejects, so does the call.
 */
export type Intercept = (collection: string, method: string, run: Run) => () => void;

/** A store whose calls a test can observe, hold or break. Only methods that return promises can be intercepted. */
export function interceptable(store: Store): { store: Store; intercept: Intercept } {
  const running = new Map<string, Run>();
  return {
    store: wrappedStore(store, ({ collection, method, args, make }) => {
      const run = running.get(`${collection}.${method}`);
      return run ? run(...(args as never[])).then(make) : make();
    }),
    intercept(name, method, run) {
      running.set(`${name}.${method}`, run);
      return () => void running.delete(`${name}.${method}`);
    },
  };
}
