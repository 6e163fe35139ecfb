import { isIPv6 } from 'node:net';
import type { CountRequest } from '../accounts/rate-limit/limit-requests.ts';
import { ApiError } from '../http/api-error.ts';

/** Submissions in a minute of one address, and of all: nobody can fill the store, not from many addresses either. */
const PER_ADDRESS = 5;
const PER_MINUTE = 300;

/** Counts a submission from an address; throws 429 beyond the limit, and 503 while nothing can be counted. */
export type LimitForms = (address: string) => Promise<void>;

export function limitForms(count: CountRequest): LimitForms {
  const require = async (key: string, most: number): Promise<void> => {
    const counted = await count(`form:${key}`);
    if (!counted) throw new ApiError('unavailable', 'Try again in a moment.', { headers: { 'Retry-After': '5' } });
    if (counted.requests <= most) return;
    const seconds = String(Math.max(1, Math.ceil(counted.leftMs / 1000)));
    throw new ApiError('rate_limited', 'Too many submissions: try again later.', {
      headers: { 'Retry-After': seconds },
    });
  };
  return async (address) => {
    await require(networkOf(address), PER_ADDRESS);
    await require('all', PER_MINUTE);
  };
}

/** One client has a whole /64 of IPv6 addresses. */
function networkOf(address: string): string {
  if (!isIPv6(address)) return address;
  const [start = '', end] = address.split('::');
  const [first, last] = [start, end ?? ''].map((part) => part.split(':').filter((group) => group !== ''));
  const zeros = end === undefined ? [] : Array<string>(Math.max(0, 8 - first!.length - last!.length)).fill('0');
  const groups = [...first!, ...zeros, ...last!].slice(0, 4);
  return `${groups.map((group) => Number.parseInt(group, 16).toString(16)).join(':')}::/64`;
}
