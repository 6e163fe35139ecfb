import { ApiError } from '../../http/api-error.ts';
import type { FindCaller } from '../../http/caller.ts';
import { gatherByKey } from '../../platform/gather-by-key.ts';
import { loadScript, type RedisClient } from '../../platform/redis.ts';
import type { Quotas } from '../organizations/organization.ts';

export type RateLimitParts = {
  findCaller: FindCaller;
  quotasOf: (organizationId: string) => Promise<Readonly<Quotas>>;
  countRequest: CountRequest;
};

/**
 * Finds callers, and counts the requests of an organization that has a limit of requests per minute, over all its keys: every answer then carries
 * `RateLimit-*`, and beyond the limit there is 429. Without a limit, or while requests cannot be counted, everything is let through.
 */
export function limitRequests({ findCaller, quotasOf, countRequest }: RateLimitParts): FindCaller {
  return async (key, setHeaders) => {
    const caller = await findCaller(key, setHeaders);
    if (!caller) return null;
    const { requests_per_minute: limit } = await quotasOf(caller.organizationId);
    const counted = limit === null ? null : await countRequest(caller.organizationId);
    if (limit === null || !counted) return caller;
    const headers = rateLimitHeaders(limit, counted);
    setHeaders(headers);
    if (counted.requests <= limit) return caller;
    const detail = `Your organization may make ${limit} requests per minute.`;
    throw new ApiError('rate_limited', detail, { headers: { 'Retry-After': headers['RateLimit-Reset'] } });
  };
}

/** What an answer tells of a limit: its size, what is left of it, and in how many seconds it is whole again. */
export function rateLimitHeaders(limit: number, { requests, leftMs }: CountedRequest) {
  return {
    'RateLimit-Limit': String(limit),
    'RateLimit-Remaining': String(Math.max(0, limit - requests)),
    'RateLimit-Reset': String(Math.max(1, Math.ceil(leftMs / 1000))),
  };
}

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
