import { adNetworkName, companyOf } from '@adsweep/shared/ads/ad-companies.ts';
import { isPublicHost } from '@adsweep/shared/urls/public-host.ts';
import { sameSite } from '@adsweep/shared/urls/registrable-domain.ts';

/** The network of an ad and the host of its ad server; '' = unknown. */
export type Network = { network: string; networkHost: string };

/** Companies that the list counts as ad networks, and whose hosts serve maps, mail, news and software as well. */
const PORTALS: ReadonlySet<string> = new Set([
  ...['Bing Ads', 'Yahoo!', 'Yahoo! JAPAN Ads', 'AOL / Oath / Verizon Media', 'LinkedIn Ads', 'Adobe Marketing Cloud'],
  ...['AddThis', 'ShareThis'],
]);
/** A label of a portal's host that serves ads. */
const AD_LABEL = /(^|[.-])(ads?|adserver|adserving|advertising|msads|adnxs|yads)([.-]|$)/i;

/** The name of the network whose ad server a URL belongs to; null: it belongs to none. */
export function adServerName(url: string): string | null {
  if (!/^(https?|wss?):/i.test(url) || !URL.canParse(url)) return null;
  const name = adNetworkName(url);
  if (name === null || !PORTALS.has(companyOf(url)?.name ?? '')) return name;
  return AD_LABEL.test(new URL(url).hostname) ? name : null;
}

/**
 * The network of an ad: that of the first of `urls`, in the order in which they led to it, which belongs to an ad server and not to the
 * publisher. Hosts of the publisher, and companies that serve no ads (tag managers, analytics, measurement, data about people), are passed
 * over (spec 2.1, rule 1). Of an ad server of no known company, only the host is known.
 */
export function networkOf(urls: readonly string[], publisher: string): Network {
  const foreign = urls.filter((url) => /^https?:/i.test(url) && URL.canParse(url) && !sameSite(url, publisher));
  for (const url of foreign) {
    const network = adServerName(url);
    if (network !== null) return { network, networkHost: new URL(url).hostname };
  }
  const unnamed = foreign.find((url) => isPublicHost(new URL(url).hostname) && companyOf(url) === null);
  return { network: '', networkHost: unnamed ? new URL(unnamed).hostname : '' };
}
