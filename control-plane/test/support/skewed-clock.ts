/** Preloaded (`--import`): the clock of this process is off by `ADSWEEP_TEST_CLOCK_MS` milliseconds. */
const offMs = Number(process.env.ADSWEEP_TEST_CLOCK_MS ?? 0);
const RealDate = globalThis.Date;
const now = (): number => RealDate.now() + offMs;

globalThis.Date = new Proxy(RealDate, {
  construct: (_, parts: number[]) => (parts.length === 0 ? new RealDate(now()) : new RealDate(...(parts as [number]))),
  get: (target, name) => (name === 'now' ? now : Reflect.get(target, name)),
});
