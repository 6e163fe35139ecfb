import type { Document, Store } from '../../src/platform/store.ts';

const WRITES = new Set([
  ...['insertOne', 'insertMany', 'updateOne', 'updateMany', 'replaceOne', 'deleteOne', 'deleteMany', 'bulkWrite'],
  ...['findOneAndUpdate', 'findOneAndReplace', 'findOneAndDelete'],
]);

/** What a call of a process rejects with when the process is dead. */
export class Killed extends Error {}

/**
 * The store as a process has it that is killed at one of its writes, as by SIGKILL: before the write or, as `isWritten` says, after it and
 * before the process learns so. From then on it neither reads nor writes.
 */
export function mortalStore(store: Store, writes: number, isWritten: boolean): { store: Store; isDead: () => boolean } {
  let left = writes;
  const requireAlive = () => {
    if (left <= 0) throw new Killed('the process is dead');
  };
  const collection = (name: string) =>
    new Proxy(store.collection<Document>(name), {
      get: (target, method: string) => {
        const own = target[method as 'findOne'] as unknown;
        if (typeof own !== 'function') return own;
        const call = own.bind(target) as (...of: unknown[]) => unknown;
        if (!WRITES.has(method)) {
          return (...of: unknown[]) => {
            requireAlive();
            return call(...of);
          };
        }
        return async (...of: unknown[]) => {
          requireAlive();
          left -= 1;
          if (left > 0 || isWritten) {
            const result = await call(...of);
            requireAlive();
            return result;
          }
          throw new Killed('the process is dead');
        };
      },
    });
  return {
    store: { ...store, collection: collection as unknown as Store['collection'] },
    isDead: () => left <= 0,
  };
}
