import type { Document, Store } from '../../src/platform/store.ts';

type Run = (...of: never[]) => Promise<unknown>;

/** Runs `run` before each call of this method of the collection until the function it returns is called; where it rejects, so does the call. */
export type Intercept = (collection: string, method: string, run: Run) => () => void;

/** A store whose calls a test can observe, hold or break. Only methods that return promises can be intercepted. */
export function interceptable(store: Store): { store: Store; intercept: Intercept } {
  const running = new Map<string, Run>();
  const collection = (name: string) =>
    new Proxy(store.collection<Document>(name), {
      get: (target, method: string) => {
        const own = target[method as 'findOne'] as unknown;
        if (typeof own !== 'function') return own;
        const call = own.bind(target) as (...of: unknown[]) => unknown;
        return (...of: unknown[]) => {
          const run = running.get(`${name}.${method}`);
          return run ? run(...(of as never[])).then(() => call(...of)) : call(...of);
        };
      },
    });
  return {
    store: { ...store, collection: collection as unknown as Store['collection'] },
    intercept(name, method, run) {
      running.set(`${name}.${method}`, run);
      return () => void running.delete(`${name}.${method}`);
    },
  };
}
