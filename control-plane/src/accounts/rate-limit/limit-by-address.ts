import type { IncomingMessage } from 'node:http';
import { isIPv6 } from 'node:net';
import { ApiError } from '../../http/api-error.ts';
import { clientAddress, type IsTrustedProxy } from '../../http/client-address.ts';
import type { CountRequest } from './limit-requests.ts';

/** How often something may be done in the window of the counter: from one address, and in all, so that nobody fills the store from many. */
export type AddressLimit = { name: string; perAddress: number; inAll: number; detail: string };

/** Counts a request of somebody without a credential; throws 429 beyond the limit, and 503 while nothing can be counted. */
export type LimitByAddress = (request: Pick<IncomingMessage, 'socket' | 'headers'>) => Promise<void>;

export function limitByAddress(
  { count, isTrusted }: { count: CountRequest; isTrusted: IsTrustedProxy },
  { name, perAddress, inAll, detail }: AddressLimit,
): LimitByAddress {
  const require = async (who: string, most: number): Promise<void> => {
    const counted = await count(`${name}:${who}`);
    if (!counted) throw new ApiError('unavailable', 'Try again in a moment.', { headers: { 'Retry-After': '5' } });
    if (counted.requests <= most) return;
    const seconds = String(Math.max(1, Math.ceil(counted.leftMs / 1000)));
    throw new ApiError('rate_limited', detail, { headers: { 'Retry-After': seconds } });
  };
  return async (request) => {
    await require(networkOf(clientAddress(request, isTrusted)), perAddress);
    await require('all', inAll);
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
