/** Sets a value of a map as its newest one, and drops the one that was set longest ago if there are more than `max`. */
export function setNewest<Key, Value>(map: Map<Key, Value>, key: Key, value: Value, max: number): void {
  map.delete(key);
  map.set(key, value);
  if (map.size > max) map.delete(map.keys().next().value as Key);
}
