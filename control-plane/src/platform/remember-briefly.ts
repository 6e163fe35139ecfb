/** Maximum number of cached values. */
const REMEMBERED_MAX = 10_000;

type Remembered<T> = { answer: Promise<T>; until: number };

export type RememberedBriefly<T> = {
  (key: string): Promise<T>;
  /** Removes a value from the cache, so that a change by this process takes effect here at once. */
  forget(key: string): void;
};

/**
 * Caches the result of `load` per key for `ms` milliseconds; a change takes effect that much later. Failures are not
 * cached. `now` in ms.
 */
export function rememberBriefly<T>(
  load: (key: string) => Promise<T>,
  ms: number,
  now: () => number = () => performance.now(),
): RememberedBriefly<T> {
  const remembered = new Map<string, Remembered<T>>();

  const recall = (key: string): Promise<T> => {
    const known = remembered.get(key);
    if (known && known.until > now()) return known.answer;
    // Entries expire soon; clearing all keeps the map bounded.
    if (remembered.size >= REMEMBERED_MAX) remembered.clear();
    const answer = load(key);
    remembered.set(key, { answer, until: now() + ms });
    answer.catch(() => {
      if (remembered.get(key)?.answer === answer) remembered.delete(key);
    });
    return answer;
  };
  return Object.assign(recall, { forget: (key: string) => void remembered.delete(key) });
}
