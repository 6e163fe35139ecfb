import { adNetworkName, companyOf } from '@adsweep/shared/ads/ad-companies.ts';
import { sameOwner } from '@adsweep/shared/ads/same-owner.ts';
import { isPublicHost } from '@adsweep/shared/urls/public-host.ts';

/** The ad server's network and host; '' = unknown. */
export type Network = { network: string; network_host: string };

const NONE: Network = { network: '', network_host: '' };

/**
 * The ad network that delivered a landing: the first hop before it whose host belongs to a network. `urls` is the chain
 * from the entry to the landing. Hosts of the company of `publisher`, the page with the ad, are skipped: they serve its
 * own creatives (spec 2.1, rule 1).
 */
export function networkOf(urls: string[], publisher: string | null = null): Network {
  for (const url of urls.slice(0, -1)) {
    if (!/^https?:/i.test(url) || !URL.canParse(url) || (publisher && sameOwner(url, publisher))) continue;
    const network = adNetworkName(url);
    if (network !== null) return { network, network_host: new URL(url).hostname };
  }
  return NONE;
}

/**
 * An ad server of no known company: the first host of `urls`, from which a creative was loaded, that belongs neither to
 * a publisher nor to any company of the list. Private hosts are skipped: exits cannot reach them.
 */
export function unnamedAdServer(urls: string[], publishers: string[]): Network {
  const found = urls.find(
    (url) =>
      /^https?:/i.test(url) &&
      URL.canParse(url) &&
      isPublicHost(new URL(url).hostname) &&
      !publishers.some((publisher) => sameOwner(url, publisher)) &&
      !companyOf(url),
  );
  return found === undefined ? NONE : { network: '', network_host: new URL(found).hostname };
}
