import type { IncomingMessage } from 'node:http';
import { isIPv6 } from 'node:net';
import { ApiError } from '../../http/api-error.ts';
import { clientAddress, type IsTrustedProxy } from '../../http/client-address.ts';
import type { CountRequest } from './limit-requests.ts';

/**
 * How much may be done in the window of the counter: from one address, and in all, so that nobody fills the store from
 * many.
 */
export type AddressLimit = { name: string; perAddress: number; inAll: number; detail: string };

/**
 * Counts a request of somebody without a credential, as `amount` (1) of what is limited; throws 429 beyond the limit,
 * and 503 while nothing can be counted.
 */
export type LimitByAddress = (request: Pick<IncomingMessage, 'socket' | 'headers'>, amount?: number) => Promise<void>;

/**
 * The part of `inAll` that one network may use, about that of a provider: somebody with many addresses of it keeps out
 * its others alone.
 */
const SHARE_OF_NETWORK = 1 / 8;
/**
 * The part of `perAddress` whose requests have a half of `inAll` for themselves: a few who ask often keep out only
 * others who do.
 */
const SELDOM = 1 / 10;

export function limitByAddress(
  { count, isTrusted }: { count: CountRequest; isTrusted: IsTrustedProxy },
  { name, perAddress, inAll, detail }: AddressLimit,
): LimitByAddress {
  const require = async (who: string, most: number, amount: number): Promise<number> => {
    const counted = await count(`${name}:${who}`, amount);
    if (!counted) throw new ApiError('unavailable', 'Try again in a moment.', { headers: { 'Retry-After': '5' } });
    if (counted.requests <= most) return counted.requests;
    const seconds = String(Math.max(1, Math.ceil(counted.leftMs / 1000)));
    throw new ApiError('rate_limited', detail, { headers: { 'Retry-After': seconds } });
  };
  const seldomMax = Math.max(1, perAddress * SELDOM);
  return async (request, amount = 1) => {
    const { client, network } = networksOf(clientAddress(request, isTrusted));
    const requests = await require(client, perAddress, amount);
    await require(`network ${network}`, inAll * SHARE_OF_NETWORK, amount);
    await require(requests <= seldomMax ? 'all that ask seldom' : 'all', inAll / 2, amount);
  };
}

/** What one client has, an IPv4 address or a /64 of IPv6, and the network around it: a /16, or a /32. */
function networksOf(address: string): { client: string; network: string } {
  const groups = isIPv6(address) ? groupsOf(address) : address.split('.');
  return { client: groups.slice(0, 4).join(':'), network: groups.slice(0, 2).join(':') };
}

/** The groups of an IPv6 address, without leading zeros. */
function groupsOf(address: string): string[] {
  const [start = '', end] = address.split('::');
  const [first, last] = [start, end ?? ''].map((part) => part.split(':').filter((group) => group !== ''));
  const zeros = end === undefined ? [] : Array<string>(Math.max(0, 8 - first!.length - last!.length)).fill('0');
  return [...first!, ...zeros, ...last!].map((group) => Number.parseInt(group, 16).toString(16));
}
