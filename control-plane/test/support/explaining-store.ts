import type { Document, FindCursor, Store } from '../../src/platform/store.ts';

/** A store that adds to `plans` how each of its searches was made, in the form of MongoDB's `explain('executionStats')`. */
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
  const collection = (name: string) =>
    new Proxy(store.collection(name), {
      get: (target, key: 'find') => {
        const method = target[key].bind(target);
        return key === 'find' ? (filter: Document) => wrap(method(filter)) : method;
      },
    });
  return { ...store, collection: collection as Store['collection'] };
}
