import type { Store } from '../../src/platform/store.ts';
import { wrappedStore } from './wrapped-store.ts';

/** Calls of a store by kind; `calls`: how often each method of each collection was called. */
export type StoreCalls = { reads: number; writes: number; calls: Record<string, number> };

const READS = new Set(['find', 'findOne', 'countDocuments', 'distinct', 'aggregate', 'estimatedDocumentCount']);
/** Not calls of the deployment while it runs. */
const UNCOUNTED = new Set(['createIndex', 'createIndexes', 'indexes', 'dropIndex', 'collectionName', 'drop']);

/** A store that counts its calls. */
export function countingStore(store: Store): { store: Store; take(): StoreCalls } {
  let counted: StoreCalls = { reads: 0, writes: 0, calls: {} };
  const count = (name: string, method: string) => {
    counted[READS.has(method) ? 'reads' : 'writes'] += 1;
    counted.calls[name] = (counted.calls[name] ?? 0) + 1;
  };
  return {
    store: wrappedStore(store, ({ collection, method, make }) => {
      if (!UNCOUNTED.has(method)) count(`${collection}.${method}`, method);
      return make();
    }),
    /** What was called since the last time. */
    take() {
      const taken = counted;
      counted = { reads: 0, writes: 0, calls: {} };
      return taken;
    },
  };
}
