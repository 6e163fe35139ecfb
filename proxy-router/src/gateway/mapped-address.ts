import { readAddress } from '../catalogue/exits-file.ts';
import type { Destination } from '../providers/provider.ts';

/**
 * The address that `hosts` of the exits file gives a destination, null for none. The name itself goes before a wildcard, a longer
 * wildcard before a shorter one, and with each of them an entry for the port before the one for all ports.
 */
export function mappedAddress(hosts: Record<string, string>, { host, port }: Destination): Destination | null {
  const labels = host.split('.');
  const wildcards = labels.slice(1).map((_, index) => `*.${labels.slice(index + 1).join('.')}`);
  const entries = new Map(Object.entries(hosts).map(([pattern, address]) => [pattern.toLowerCase(), address]));
  for (const name of [host, ...wildcards]) {
    const address = entries.get(`${name}:${port}`) ?? entries.get(name);
    if (address !== undefined) return readAddress(address);
  }
  return null;
}
