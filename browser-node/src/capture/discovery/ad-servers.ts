import { adNetworkName, companyOf } from '@adsweep/shared/ads/ad-companies.ts';
import { sameOwner } from '@adsweep/shared/ads/same-owner.ts';
import { isPublicHost } from '@adsweep/shared/urls/public-host.ts';
import { isOfServer } from '../session/urls.ts';

/** The network of an ad and the host of its ad server; '' = unknown. */
export type Network = { network: string; networkHost: string };

export const NO_NETWORK: Network = { network: '', networkHost: '' };

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

/** The scripts of Revive (formerly OpenX), which anybody may run on a host of their own. */
const AD_SERVER_SOFTWARE = /\/delivery\/(afr|ajs|al|apu|spc|asyncjs|asyncspc|avw|ck|cl|ai)\.php\b/i;

/** Whether a URL belongs to an ad server: one of a known network, or one that runs known software. */
export const isOfAdServer = (url: string): boolean =>
  adServerName(url) !== null || (isOfServer(url) && AD_SERVER_SOFTWARE.test(url));

/**
 * The network of an ad: that of the first of `urls`, in the order of the requests, which is not of the publisher or its
 * company, and not of a company that serves no ads, such as tag managers, analytics, measurement, data about people and
 * content networks (spec 2.1, rule 1). Of an ad server of no known company, only the host is known.
 */
export function networkOf(urls: readonly string[], publisher: string): Network {
  for (const url of urls) {
    if (!isOfServer(url) || !URL.canParse(url) || sameOwner(url, publisher)) continue;
    const network = adServerName(url);
    const { hostname } = new URL(url);
    if (network !== null) return { network, networkHost: hostname };
    if (companyOf(url) === null && isPublicHost(hostname)) return { network: '', networkHost: hostname };
  }
  return NO_NETWORK;
}
