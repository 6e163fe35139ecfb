import { isIP } from 'node:net';
import type { Destination } from '../providers/provider.ts';

/**
 * `hosts` of the exits file: addresses (`ip:port`) by name, `*.name` or `name:port`. They take precedence over the
 * address policy.
 */
export type HostMapping = Record<string, string>;

const PATTERN = /^(\*\.)?[a-z0-9_-]+(\.[a-z0-9_-]+)*(:\d{1,5})?$/i;

/** The problems of a mapping, one text for each; the schema reports addresses that are not strings. */
export function hostMappingProblems(entries: [pattern: string, address: unknown][]): string[] {
  return entries.flatMap(([pattern, address]) => {
    const problems: string[] = [];
    if (!PATTERN.test(pattern)) problems.push(`/hosts/${pattern} is not a name, *.name or name:port`);
    if (typeof address === 'string' && readAddress(address) === null)
      problems.push(`/hosts/${pattern} leads to ${address}, which is not ip:port`);
    return problems;
  });
}

/**
 * The address that a destination is mapped to, null for none. An exact name is preferred to a wildcard, a longer
 * wildcard to a shorter one, and for each of them an entry with the port to one without.
 */
export function mappedAddress(hosts: HostMapping, { host, port }: Destination): Destination | null {
  const labels = host.split('.');
  const wildcards = labels.slice(1).map((_, index) => `*.${labels.slice(index + 1).join('.')}`);
  const entries = new Map(Object.entries(hosts).map(([pattern, address]) => [pattern.toLowerCase(), address]));
  for (const name of [host, ...wildcards]) {
    const address = entries.get(`${name}:${port}`) ?? entries.get(name);
    if (address !== undefined) return readAddress(address);
  }
  return null;
}

/** Reads `ip:port` or `[ipv6]:port`; null for anything else. */
function readAddress(text: string): Destination | null {
  const [, ipv6, ipv4, digits] = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(text) ?? [];
  const host = ipv6 ?? ipv4 ?? '';
  const port = Number(digits);
  return isIP(host) !== 0 && port > 0 && port < 65_536 ? { host, port } : null;
}
