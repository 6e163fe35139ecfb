import type { Socket } from 'node:net';
import { checkedAddresses, type Resolve } from '@adsweep/shared/egress/checked-addresses.ts';
import { EgressError } from '@adsweep/shared/egress/egress-error.ts';
import type { AddressPolicy } from '@adsweep/shared/urls/address-policy.ts';
import { ConnectionFailure } from './connection-failure.ts';
import type { Provider } from './provider.ts';

/** Connects to the first of the addresses that answers. Throws ConnectionFailure. */
export type Connect = (addresses: string[], port: number, signal: AbortSignal) => Promise<Socket>;

/**
 * The provider `direct`: traffic leaves from this machine, in whatever country the exits file says. Only addresses that
 * were checked are dialled.
 */
export function directProvider(resolve: Resolve, connect: Connect, policy: AddressPolicy): Provider {
  return {
    resolvesNames: true,
    async dial(_use, { host, port }, signal) {
      const allows = (address: string) => policy.allowsAddress(address);
      const addresses = await abortable(checkedAddresses(host, resolve, allows), signal).catch(asFailure);
      const socket = await connect(addresses, port, signal);
      return { socket, address: socket.remoteAddress ?? null };
    },
  };
}

function asFailure(error: unknown): never {
  if (!(error instanceof EgressError)) throw error;
  throw new ConnectionFailure(error.code === 'dns' ? 'dns' : 'private_address', error.message, { cause: error.cause });
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
