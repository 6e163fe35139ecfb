import type { Document, Store } from '../../src/platform/store.ts';

/** Calls of a store by kind; `calls`: how often each method of each collection was called. */
export type StoreCalls = { reads: number; writes: number; calls: Record<string, number> };

const READS = new Set(['find', 'findOne', 'countDocuments', 'distinct', 'aggregate', 'estimatedDocumentCount']);
/** Not calls of the deployment while it runs. */
const UNCOUNTED = new Set(['createIndex', 'createIndexes', 'indexes', 'dropIndex', 'collectionName', 'drop']);

/** A store that counts its calls. */
export function countingStore(store: Store): { store: Store; take(): StoreCalls } {
  let counted: StoreCalls = { reads: 0, writes: 0, calls: {} };
  const count = (collection: string, method: string) => {
    counted[READS.has(method) ? 'reads' : 'writes'] += 1;
    const name = `${collection}.${method}`;
    counted.calls[name] = (counted.calls[name] ?? 0) + 1;
  };
  const collection = (name: string) =>
    new Proxy(store.collection<Document>(name), {
      get: (target, method: string) => {
        const own = target[method as 'findOne'] as unknown;
        if (typeof own !== 'function') return own;
        const call = own.bind(target) as (...of: unknown[]) => unknown;
        return (...of: unknown[]) => {
          if (!UNCOUNTED.has(method)) count(name, method);
          return call(...of);
        };
      },
    });
  return {
    store: { ...store, collection: collection as unknown as Store['collection'] },
    /** What was called since the last time. */
    take() {
      const taken = counted;
      counted = { reads: 0, writes: 0, calls: {} };
      return taken;
    },
  };
}
