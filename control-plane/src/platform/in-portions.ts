import { pause } from '@adsweep/shared/service/time-slice.ts';

/**
 * Reads or writes items some at a time, with pauses: a transaction, and the plan of a search, block the event loop while the embedded store is in
 * this process. Returns what `work` returned.
 */
export async function inPortions<T, R>(items: T[], most: number, work: (portion: T[]) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (let from = 0; from < items.length; from += most) {
    await pause();
    results.push(await work(items.slice(from, from + most)));
  }
  return results;
}
