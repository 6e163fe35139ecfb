/** Chooses up to `count` of `items` with equal probability, so that concurrent processes rarely choose the same ones. */
export function pickAtRandom<T>(items: readonly T[], count: number, random = Math.random): T[] {
  const rest = [...items];
  const picked: T[] = [];
  while (picked.length < count && rest.length > 0) {
    picked.push(...rest.splice(Math.floor(random() * rest.length), 1));
  }
  return picked;
}
