import { parse } from 'tldts';

const OPTIONS = { allowPrivateDomains: true } as const;

/**
 * The registrable form of a URL's or host's domain (`www.shop.co.uk` -> `shop.co.uk`), the host itself where there is
 * none (an IP address, a public suffix), '' for a URL without a host.
 */
export function registrableDomain(urlOrHost: string): string {
  const { domain, hostname } = parse(urlOrHost, OPTIONS);
  return domain ?? hostname ?? '';
}

/** Whether two URLs or hosts share a registrable domain. */
export const sameSite = (a: string, b: string): boolean => registrableDomain(a) === registrableDomain(b);
