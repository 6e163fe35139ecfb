import { loadScript, type RedisClient } from '../../platform/redis.ts';

/** How many requests of a key there were in its window so far, this one included, and how long the window lasts. */
export type CountedRequest = { requests: number; leftMs: number };

/** Counts a request of the key with this id; null while that is not possible. */
export type CountRequest = (keyId: string) => Promise<CountedRequest | null>;

const WINDOW_MS = 60_000;
/** How long nobody asks again after Redis gave no answer, so that one that hangs does not hold up every request. */
const PAUSE_MS = 1_000;

const script = loadScript(new URL('count-request.lua', import.meta.url));

/** Counts requests in Redis, in one round trip, for all processes together. */
export function requestCounter(redis: RedisClient, now: () => number = () => performance.now()): CountRequest {
  let pausedUntil = Number.NEGATIVE_INFINITY;
  return async (keyId) => {
    if (now() < pausedUntil) return null;
    try {
      const [requests, leftMs] = (await script(redis, [`adsweep:requests:${keyId}`], [WINDOW_MS])) as [number, number];
      return { requests, leftMs };
    } catch {
      pausedUntil = now() + PAUSE_MS;
      return null;
    }
  };
}
