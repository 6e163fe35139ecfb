/** Adds `by` to the count of a key, and returns it. A key without a count, or with one of 0, is not in the map. */
export function addCount<Key>(counts: Map<Key, number>, key: Key, by: number): number {
  const count = (counts.get(key) ?? 0) + by;
  if (count > 0) counts.set(key, count);
  else counts.delete(key);
  return count;
}
