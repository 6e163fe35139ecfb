/**
 * Returns a function that runs work with the same key one after the other, and work with different keys concurrently.
 */
export function serializeByKey() {
  const lastOf = new Map<string, Promise<unknown>>();

  return async function serialized<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = lastOf.get(key);
    const mine = before ? before.then(work, work) : work();
    lastOf.set(key, mine);
    try {
      return await mine;
    } finally {
      if (lastOf.get(key) === mine) lastOf.delete(key);
    }
  };
}
