import { isIP, type Socket } from 'node:net';
import type { AddressPolicy } from '@adsweep/shared/urls/address-policy.ts';
import { ConnectionFailure } from './connection-failure.ts';
import type { Provider } from './provider.ts';

/** Resolves a name to all its addresses. Throws ConnectionFailure `dns`. */
export type Resolve = (name: string) => Promise<string[]>;

/** Connects to the first of the addresses that answers. Throws ConnectionFailure. */
export type Connect = (addresses: string[], port: number, signal: AbortSignal) => Promise<Socket>;

/**
 * Exits whose traffic leaves from this machine: the country is what the exits file says. A name is resolved once and exactly the
 * addresses that were checked are dialled, so that a second answer of a name server cannot get past the check (DNS rebinding). One
 * address that the policy does not allow refuses the whole name.
 */
export function directProvider(resolve: Resolve, connect: Connect, policy: AddressPolicy): Provider {
  return {
    resolvesNames: true,
    async dial(_use, { host, port }, signal) {
      const addresses = isIP(host) === 0 ? await abortable(resolve(host), signal) : [host];
      if (addresses.length === 0) throw new ConnectionFailure('dns', 'the name has no address');
      if (!addresses.every((address) => policy.allowsAddress(address)))
        throw new ConnectionFailure('private_address', 'the name resolves to an address that scans may not reach');
      const socket = await connect(addresses, port, signal);
      return { socket, address: socket.remoteAddress ?? null };
    },
  };
}

/** The result of `work`, or the signal's reason as soon as it aborts. */
function abortable<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
