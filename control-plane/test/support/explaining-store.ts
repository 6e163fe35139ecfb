import type { Document, FindCursor, Store } from '../../src/platform/store.ts';
import { wrappedStore } from './wrapped-store.ts';

/**
 * A store that adds to `plans` how each of its searches was made, in the form of MongoDB's `explain('executionStats')`.
 */
export function explaining(store: Store, plans: Document[]): Store {
  const wrap = (cursor: FindCursor<Document>): FindCursor<Document> =>
    new Proxy(cursor, {
      get: (target, name: keyof FindCursor<Document>) => {
        const method = (target[name] as (...of: unknown[]) => unknown).bind(target);
        if (name !== 'toArray') return (...of: unknown[]) => wrap(method(...of) as FindCursor<Document>);
        return async () => {
          plans.push(await target.explain());
          return method();
        };
      },
    });
  return wrappedStore(store, ({ method, make }) => (method === 'find' ? wrap(make() as FindCursor<Document>) : make()));
}
