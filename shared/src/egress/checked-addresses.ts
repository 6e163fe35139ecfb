import { Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';
import { EgressError } from './egress-error.ts';

/**
 * How long one of several addresses may take to accept a connection before the next one is tried, in ms. Node.js would
 * close an attempt after 250 ms, in which a far server cannot answer, nor any server while this process is busy.
 */
export const ADDRESS_ATTEMPT_MS = 2_000;

/** Resolves a name to all its addresses. Throws EgressError `dns`. */
export type Resolve = (name: string) => Promise<string[]>;

/**
 * The addresses of a host, which is a name or an address. A name is resolved once, and only the addresses returned here
 * may be dialled, so that a second DNS answer cannot bypass the check (DNS rebinding). One address that is not allowed
 * refuses the whole host. Throws EgressError `dns` or `blocked_address`.
 */
export async function checkedAddresses(
  host: string,
  resolve: Resolve,
  allows: (address: string) => boolean,
): Promise<string[]> {
  const addresses = isIP(host) === 0 ? await resolve(host) : [host];
  if (addresses.length === 0) throw new EgressError('dns', 'the name has no address');
  if (!addresses.every(allows))
    throw new EgressError('blocked_address', 'the host has an address that may not be reached');
  return addresses;
}

/**
 * Resolves names to all their IPv4 and IPv6 addresses, with the machine's name servers (or `servers`, `ip:port` each).
 * It does not use `dns.lookup`, which runs in a few threads that one slow zone can block for everybody, and reads
 * search domains and the hosts file.
 */
export function resolveNames(servers?: string[]): Resolve {
  return async (name) => {
    const resolver = new Resolver({ timeout: 2_500, tries: 2 });
    if (servers) resolver.setServers(servers);
    const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    if (addresses.length > 0) return addresses;
    const [failed] = answers as PromiseRejectedResult[];
    throw new EgressError('dns', 'the name cannot be resolved', { cause: failed?.reason });
  };
}
