import { isIP, type Socket } from 'node:net';
import type { AddressPolicy } from '@adsweep/shared/urls/address-policy.ts';
import { GatewayFailure } from '../gateway/gateway-failure.ts';
import type { Destination, Provider } from './provider.ts';

/** All addresses of a name. Throws GatewayFailure `dns`. */
export type Resolve = (name: string) => Promise<string[]>;

/** A connection to one of the addresses, whichever answers first. Throws GatewayFailure. */
export type Connect = (addresses: string[], port: number, signal: AbortSignal) => Promise<Socket>;

/**
 * Exits that leave from this machine itself: the country is what the exits file says. A name is resolved once; one address
 * among the answers that `addresses` does not allow refuses all of them, and what was checked is what is dialled, so that no second answer can slip in.
 */
export function directProvider(resolve: Resolve, connect: Connect, addresses: AddressPolicy): Provider {
  return {
    catalogue: (listed) => listed,
    async dial(_exit, { host, port }: Destination, signal) {
      const found = isIP(host) === 0 ? await settled(resolve(host), signal) : [host];
      if (found.length === 0) throw new GatewayFailure('dns', 'the name has no address');
      if (!found.every((address) => addresses.allowsAddress(address)))
        throw new GatewayFailure('private_address', 'the name leads to a private address');
      return connect(found, port, signal);
    },
  };
}

/** `work`, or the signal's reason as soon as it aborts. */
function settled<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
