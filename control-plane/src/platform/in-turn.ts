/** Runs work one after the other for each key; work of different keys runs side by side. */
export function inTurnByKey() {
  const lastOf = new Map<string, Promise<unknown>>();

  return async function inTurn<T>(key: string, work: () => Promise<T>): Promise<T> {
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
