import { Resolver } from 'node:dns/promises';
import { ConnectionFailure } from './connection-failure.ts';
import type { Resolve } from './direct.ts';

/**
 * Resolves names to all their IPv4 and IPv6 addresses, with the machine's name servers (or `servers`, `ip:port` each). It does not use
 * the system's lookup: that works in a few threads, which one slow zone can block for everybody, and it reads search domains and the
 * hosts file. Throws ConnectionFailure `dns`.
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
