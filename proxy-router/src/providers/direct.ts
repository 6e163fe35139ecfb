import { Resolver } from 'node:dns/promises';
import { isIP, type Socket } from 'node:net';
import type { AddressPolicy } from '@adsweep/shared/urls/address-policy.ts';
import { ConnectionFailure } from './connection-failure.ts';
import type { Provider } from './provider.ts';

/** Resolves a name to all its addresses. Throws ConnectionFailure `dns`. */
export type Resolve = (name: string) => Promise<string[]>;

/** Connects to the first of the addresses that answers. Throws ConnectionFailure. */
export type Connect = (addresses: string[], port: number, signal: AbortSignal) => Promise<Socket>;

/**
 * The provider `direct`: traffic leaves from this machine, in whatever country the exits file says. A name is resolved once, and only the
 * checked addresses are dialled, so that a second DNS answer cannot bypass the check (DNS rebinding). One address that the policy
 * forbids refuses the whole name.
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

/**
 * Resolves names to all their IPv4 and IPv6 addresses, with the machine's name servers (or `servers`, `ip:port` each). It does not use
 * `dns.lookup`, which runs in a few threads that one slow zone can block for all scans, and reads search domains and the hosts file. Throws ConnectionFailure `dns`.
 */
export function resolveNames(servers?: string[]): Resolve {
  return async (name) => {
    const resolver = new Resolver({ timeout: 2_500, tries: 2 });
    if (servers) resolver.setServers(servers);
    const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    if (addresses.length > 0) return addresses;
    const [failed] = answers as PromiseRejectedResult[];
    throw new ConnectionFailure('dns', 'the name cannot be resolved', { cause: failed?.reason });
  };
}
