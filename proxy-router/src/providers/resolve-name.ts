import { Resolver } from 'node:dns/promises';
import { GatewayFailure } from '../gateway/gateway-failure.ts';
import type { Resolve } from './direct.ts';

/**
 * All IPv4 and IPv6 addresses of a name, asked of the machine's name servers (or of `servers`, `ip:port` each). Not the system's own
 * lookup: that works in a handful of threads, which one slow zone can hold up for everybody, and it takes search domains and the hosts
 * file into account. Throws GatewayFailure `dns`.
 */
export function resolveNames(servers?: string[]): Resolve {
  return async (name) => {
    const resolver = new Resolver({ timeout: 2_500, tries: 2 });
    if (servers) resolver.setServers(servers);
    const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    if (addresses.length > 0) return addresses;
    const [refused] = answers as PromiseRejectedResult[];
    throw new GatewayFailure('dns', 'the name cannot be resolved', refused?.reason);
  };
}
