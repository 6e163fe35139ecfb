import type { Document, Store } from '../../src/platform/store.ts';

/** A call of a method of a collection, which a wrapper makes, holds or refuses. */
export type Call = { collection: string; method: string; args: unknown[]; make: () => unknown };

/** A store whose collections' methods are called through `wrap`. */
export function wrappedStore(store: Store, wrap: (call: Call) => unknown): Store {
  const collection = (name: string) =>
    new Proxy(store.collection<Document>(name), {
      get: (target, method: string) => {
        const own = target[method as 'findOne'] as unknown;
        if (typeof own !== 'function') return own;
        const call = own.bind(target) as (...of: unknown[]) => unknown;
        return (...args: unknown[]) => wrap({ collection: name, method, args, make: () => call(...args) });
      },
    });
  return { ...store, collection: collection as unknown as Store['collection'] };
}
