import { gatherByKey } from '../../platform/gather-by-key.ts';
import { loadScript, type RedisClient } from '../../platform/redis.ts';

/** How many requests of an organization there were in its window so far, this one included, and how long the window lasts. */
export type CountedRequest = { requests: number; leftMs: number };

/** Counts a request of the organization with this id; null while that is not possible. */
export type CountRequest = (organizationId: string) => Promise<CountedRequest | null>;

const WINDOW_MS = 60_000;
/** How long Redis is not asked again after it did not answer, so that an unresponsive one does not delay every request. */
const PAUSE_MS = 1_000;
/** Requests of an organization that are counted in one round trip. */
const BATCH_MAX = 1_000;

const script = loadScript(new URL('count-requests.lua', import.meta.url));

/** Counts requests in Redis, for all processes together. Those of an organization that arrive at the same time share a round trip. */
export function requestCounter(redis: RedisClient, now: () => number = () => performance.now()): CountRequest {
  let pausedUntil = Number.NEGATIVE_INFINITY;

  const countAll = async (organizationId: string, arrived: null[]): Promise<(CountedRequest | null)[]> => {
    if (now() < pausedUntil) return arrived;
    try {
      const reply = await script(redis, [`adsweep:requests:${organizationId}`], [WINDOW_MS, arrived.length]);
      const [total, leftMs] = reply as [number, number];
      return arrived.map((_, at) => ({ requests: total - arrived.length + at + 1, leftMs }));
    } catch {
      pausedUntil = now() + PAUSE_MS;
      return arrived;
    }
  };
  const count = gatherByKey(countAll, BATCH_MAX);

  // While Redis is unavailable, requests are not batched either.
  return async (organizationId) => (now() < pausedUntil ? null : count(organizationId, null));
}
