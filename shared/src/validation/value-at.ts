/** The steps of a JSON pointer (RFC 6901). */
export function pointerSteps(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** The value at `path` below `value`; undefined where there is none. Only own properties count, not `__proto__`. */
export function valueAt(value: unknown, path: (string | number)[]): unknown {
  return path.reduce<unknown>(
    (from, key) =>
      typeof from === 'object' && from !== null && Object.hasOwn(from, key) ? Reflect.get(from, key) : undefined,
    value,
  );
}
