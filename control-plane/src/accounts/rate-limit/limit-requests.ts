import { ApiError } from '../../http/api-error.ts';
import type { FindCaller, SetHeaders } from '../../http/caller.ts';
import { gatherByKey } from '../../platform/gather-by-key.ts';
import { loadScript, type RedisClient, removeMalformed } from '../../platform/redis.ts';
import type { Quotas } from '../organizations/organization.ts';

export type RateLimitParts = {
  findCaller: FindCaller;
  quotasOf: (organizationId: string) => Promise<Readonly<Quotas>>;
  countRequest: CountRequest;
};

/**
 * Finds callers and limits their requests per minute, counted over all keys of an organization. If the organization has
 * a limit, every response has `RateLimit-*` headers, and requests beyond the limit get 429, but for a few about its
 * account. Without a limit, or while requests cannot be counted, all requests are allowed.
 */
export function limitRequests({ findCaller, ...limits }: RateLimitParts): FindCaller {
  return async (key, setHeaders, permission) => {
    const caller = await findCaller(key, setHeaders, permission);
    if (!caller) return null;
    const { organizationId, keyId, permissions } = caller;
    await countRequestOf(limits, organizationId, setHeaders).catch(async (refusal: unknown) => {
      if (permission !== 'account.manage' || !permissions.has(permission)) throw refusal;
      const counted = await limits.countRequest(`${organizationId}:account:${keyId}`);
      if (counted && counted.requests > ACCOUNT_REQUESTS) throw refusal;
    });
    return caller;
  };
}

/**
 * Requests about its account that each key may make in a minute beyond the limit of its organization, so that a stolen
 * key that uses up the limit is found and revoked with another one.
 */
const ACCOUNT_REQUESTS = 10;

/** Counts a request of an organization, and sets the `RateLimit-*` headers if it has a limit. Throws 429 beyond it. */
export async function countRequestOf(
  { quotasOf, countRequest }: Omit<RateLimitParts, 'findCaller'>,
  organizationId: string,
  setHeaders: SetHeaders = () => {},
): Promise<void> {
  const { requests_per_minute: limit } = await quotasOf(organizationId);
  const counted = limit === null ? null : await countRequest(organizationId);
  if (limit === null || !counted) return;
  const headers = rateLimitHeaders(limit, counted);
  setHeaders(headers);
  if (counted.requests <= limit) return;
  const detail = `Your organization may make ${limit} requests per minute.`;
  throw new ApiError('rate_limited', detail, { headers: { 'Retry-After': headers['RateLimit-Reset'] } });
}

/**
 * The `RateLimit-*` headers of a response: the limit, the remaining requests, and the seconds until the limit is reset.
 */
export function rateLimitHeaders(limit: number, { requests, leftMs }: CountedRequest) {
  return {
    'RateLimit-Limit': String(limit),
    'RateLimit-Remaining': String(Math.max(0, limit - requests)),
    'RateLimit-Reset': String(Math.max(1, Math.ceil(leftMs / 1000))),
  };
}

/**
 * Number of an organization's requests in the current window, this one included, and the remaining time of the window.
 */
export type CountedRequest = { requests: number; leftMs: number };

/**
 * Counts a request of an organization, or one that counts as `amount` of them; null while requests cannot be counted.
 */
export type CountRequest = (organizationId: string, amount?: number) => Promise<CountedRequest | null>;

const WINDOW_MS = 60_000;
/** How long requests are not counted after a failure, so that an unresponsive Redis does not delay every request. */
const PAUSE_MS = 1_000;
/** Maximum number of an organization's requests that are counted in one round trip. */
const BATCH_MAX = 1_000;

const script = loadScript(new URL('count-requests.lua', import.meta.url));

/**
 * Counts requests in Redis, over all processes, in windows of a minute by default. Concurrent requests of an
 * organization share a round trip.
 */
export function requestCounter(
  redis: RedisClient,
  { windowMs = WINDOW_MS, now = () => performance.now() }: { windowMs?: number; now?: () => number } = {},
): CountRequest {
  let pausedUntil = Number.NEGATIVE_INFINITY;

  const countAll = async (organizationId: string, amounts: number[]): Promise<(CountedRequest | null)[]> => {
    const uncounted = amounts.map(() => null);
    if (now() < pausedUntil) return uncounted;
    const key = `adsweep:requests:${organizationId}`;
    const sum = amounts.reduce((all, amount) => all + amount, 0);
    try {
      const reply = await script(redis, [key], [windowMs, sum]);
      const [total, leftMs] = reply as [number, number];
      let requests = total - sum;
      return amounts.map((amount) => {
        requests += amount;
        return { requests, leftMs };
      });
    } catch (error) {
      await removeMalformed(redis, key, error);
      pausedUntil = now() + PAUSE_MS;
      return uncounted;
    }
  };
  const count = gatherByKey(countAll, BATCH_MAX);

  // While Redis is unavailable, requests are not batched either.
  return async (organizationId, amount = 1) => (now() < pausedUntil ? null : count(organizationId, amount));
}
