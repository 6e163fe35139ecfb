/** Sets the clock of this process off by so many milliseconds. */
export function skewClock(offMs: number): void {
  const RealDate = globalThis.Date;
  const now = (): number => RealDate.now() + offMs;
  globalThis.Date = new Proxy(RealDate, {
    construct: (_, parts: number[]) =>
      parts.length === 0 ? new RealDate(now()) : new RealDate(...(parts as [number])),
    get: (target, name) => (name === 'now' ? now : Reflect.get(target, name)),
  });
}
