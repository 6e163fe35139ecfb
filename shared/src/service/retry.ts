/** How long to wait between tries, in ms: from `minMs`, doubling, up to `maxMs`. */
export type Backoff = { minMs: number; maxMs: number };

/**
 * The wait after the try number `failures` (0 = the first) failed, in ms: it doubles from `minMs` to `maxMs`, less up to a half so that
 * those who failed together do not come back together.
 */
export function backoffMs({ minMs, maxMs }: Backoff, failures: number, random = Math.random()): number {
  const whole = Math.min(minMs * 2 ** failures, maxMs);
  return Math.round(whole * (1 - random / 2));
}
