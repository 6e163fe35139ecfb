import { ApiError } from '../../http/api-error.ts';
import type { FindCaller } from '../../http/caller.ts';
import type { Quotas } from '../organizations/quotas.ts';
import type { CountedRequest, CountRequest } from './request-counter.ts';

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
