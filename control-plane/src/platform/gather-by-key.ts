import { setImmediate } from 'node:timers/promises';

type Waiting<T, R> = { item: T; resolve: (result: R) => void; reject: (cause: unknown) => void };

/**
 * Runs `run` in batches of up to `max` items, or of what counts as many: `weigh` says for how many an item counts.
 * Items of one iteration of the event loop form a batch, and so do those that arrive while a batch runs. One batch of a
 * key runs at a time. `run` returns a result for each item, in order; if it throws, every item of the batch fails with
 * that error.
 */
export function gatherByKey<T, R>(
  run: (key: string, items: T[]) => Promise<R[]>,
  max: number,
  weigh: (item: T) => number = () => 1,
) {
  const waitingFor = new Map<string, Waiting<T, R>[]>();

  /** How many of those that wait are the next batch: at least one. */
  const batchOf = (waiting: Waiting<T, R>[]): number => {
    let left = max;
    const end = waiting.findIndex(({ item }, at) => {
      left -= weigh(item);
      return left < 0 && at > 0;
    });
    return end === -1 ? waiting.length : end;
  };

  const runAll = async (key: string, waiting: Waiting<T, R>[]): Promise<void> => {
    await setImmediate();
    while (waiting.length > 0) {
      const batch = waiting.splice(0, batchOf(waiting));
      try {
        const results = await run(
          key,
          batch.map(({ item }) => item),
        );
        for (const [at, { resolve }] of batch.entries()) resolve(results[at]!);
      } catch (cause) {
        for (const { reject } of batch) reject(cause);
      }
    }
    waitingFor.delete(key);
  };

  return (key: string, item: T): Promise<R> =>
    new Promise((resolve, reject) => {
      const waiting = waitingFor.get(key) ?? [];
      waiting.push({ item, resolve, reject });
      if (waitingFor.has(key)) return;
      waitingFor.set(key, waiting);
      void runAll(key, waiting);
    });
}
