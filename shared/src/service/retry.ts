import { setTimeout as pause } from 'node:timers/promises';

/** How long to wait between tries, in ms: from `minMs`, doubling, up to `maxMs`. */
export type Backoff = { minMs: number; maxMs: number };

/**
 * The backoff in ms after failed attempt number `failures` (0 = the first): it doubles from `minMs` to `maxMs`, with up
 * to 50 % jitter, so that callers that failed together do not retry together.
 */
export function backoffMs({ minMs, maxMs }: Backoff, failures: number, random = Math.random()): number {
  const whole = Math.min(minMs * 2 ** failures, maxMs);
  return Math.round(whole * (1 - random / 2));
}

/** For how long, in ms, a call is retried, and the backoff in between. */
export type RetryPolicy = Backoff & { forMs: number };

/**
 * Calls until it succeeds, `isRetryable` says no, `signal` is aborted, or the next try would come later than
 * `policy.forMs` after the first; throws the last error then.
 */
export async function retry<T>(
  call: () => Promise<T>,
  {
    policy,
    isRetryable,
    signal,
  }: { policy: RetryPolicy; isRetryable: (error: unknown) => boolean; signal: AbortSignal },
): Promise<T> {
  // Not by the time of day, which may be set meanwhile.
  const until = performance.now() + policy.forMs;
  for (let failures = 0; ; failures++) {
    try {
      signal.throwIfAborted();
      return await call();
    } catch (error) {
      const waitMs = backoffMs(policy, failures);
      if (signal.aborted || !isRetryable(error) || performance.now() + waitMs > until) throw error;
      await pause(waitMs, undefined, { signal });
    }
  }
}
