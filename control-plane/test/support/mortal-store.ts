import type { Store } from '../../src/platform/store.ts';
import { wrappedStore } from './wrapped-store.ts';

const WRITES = new Set([
  ...['insertOne', 'insertMany', 'updateOne', 'updateMany', 'replaceOne', 'deleteOne', 'deleteMany', 'bulkWrite'],
  ...['findOneAndUpdate', 'findOneAndReplace', 'findOneAndDelete'],
]);

/** What a call of a process rejects with when the process is dead. */
export class Killed extends Error {}

/**
 * The store as a process has it that is killed at one of its writes, as by SIGKILL: before the write or, as `isWritten`
 * says, after it and before the process learns so. From then on it neither reads nor writes.
 */
export function mortalStore(store: Store, writes: number, isWritten: boolean): { store: Store; isDead: () => boolean } {
  let left = writes;
  const requireAlive = () => {
    if (left <= 0) throw new Killed('the process is dead');
  };
  const write = async (make: () => unknown) => {
    requireAlive();
    left -= 1;
    if (left <= 0 && !isWritten) throw new Killed('the process is dead');
    const result = await make();
    requireAlive();
    return result;
  };
  return {
    store: wrappedStore(store, ({ method, make }) => {
      if (WRITES.has(method)) return write(make);
      requireAlive();
      return make();
    }),
    isDead: () => left <= 0,
  };
}
