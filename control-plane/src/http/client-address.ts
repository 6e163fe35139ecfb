import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';

/** Which addresses are the operator's own proxies. */
export type IsTrustedProxy = (address: string) => boolean;

/** Hops of `X-Forwarded-For` that are read, from its end. */
const HOPS_MAX = 50;

/**
 * The address of the client that sent a request: that of the connection, or where this is a trusted proxy, the last
 * address in `X-Forwarded-For` that is none. Those before it may be forged by the client and are ignored.
 */
export function clientAddress(
  { socket, headers }: Pick<IncomingMessage, 'socket' | 'headers'>,
  isTrusted: IsTrustedProxy,
) {
  let address = plainAddress(socket.remoteAddress ?? '');
  const forwarded = [headers['x-forwarded-for'] ?? []].flat().join(',').split(',').slice(-HOPS_MAX);
  while (isTrusted(address)) {
    const before = plainAddress(forwarded.pop()?.trim() ?? '');
    if (before === '') return address;
    address = before;
  }
  return address;
}

/** An address without brackets, port and zone, IPv4 in its own form; '' for anything else. */
function plainAddress(text: string): string {
  const bare = /^\[([^\]]+)\](?::\d+)?$/.exec(text)?.[1] ?? /^(\d+(?:\.\d+){3}):\d+$/.exec(text)?.[1] ?? text;
  const address = bare.replace(/%.*$/, '').toLowerCase();
  const mapped = /^::ffff:(\d+(?:\.\d+){3})$/.exec(address)?.[1] ?? address;
  return isIP(mapped) === 0 ? '' : mapped;
}
