/** Up to `count` of `items`, each as likely as any other, in no order: those who choose at the same time rarely choose the same. */
export function pickAtRandom<T>(items: readonly T[], count: number, random = Math.random): T[] {
  const rest = [...items];
  const picked: T[] = [];
  while (picked.length < count && rest.length > 0) {
    picked.push(...rest.splice(Math.floor(random() * rest.length), 1));
  }
  return picked;
}
