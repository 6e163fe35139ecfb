import { readFileSync } from 'node:fs';
import { isPublicHost } from '@adsweep/shared/urls/public-host.ts';
import { sameSite } from '@adsweep/shared/urls/registrable-domain.ts';
import thirdParties from 'third-party-web/nostats-subset.js';

/** The ad server's network and host; '' = unknown. */
export type Network = { network: string; network_host: string };

const NONE: Network = { network: '', network_host: '' };

/**
 * Companies that the list counts as ad networks although they serve no ads: they measure, verify or sell data about people. They are not the
 * network of an ad that passes through them (spec 2.1, rule 1).
 */
export const NOT_AD_SERVERS: ReadonlySet<string> = new Set([
  ...[
    'AdScore',
    'DoubleVerify',
    'Effective Measure',
    'Integral Ad Science',
    'MEC WebTrack',
    'Moat',
    'Proximic (ComScore)',
  ],
  ...['Scorecard Research', 'Twitter Online Conversion Tracking', 'Visible Measures'],
  ...['Audience 360', 'Audience Rate', 'AudienceSearch', 'BlueKai', 'Bombora', 'CleverDATA', 'Clickagy Audience Lab'],
  ...['Datalogix', 'Eyeota', 'Merkle Digital Data Exchange', 'Neodata', 'Neustar AdAdvisor', 'OnAudience', 'Tapad'],
  ...['The ADEX', 'ZEOTAP'],
]);

/**
 * The ad network that delivered a landing: the first hop before it whose host belongs to a network. `urls` is the chain from the entry to the
 * landing. Hosts of `publisher`, the page with the ad, are skipped: they serve its own creatives (spec 2.1, rule 1).
 */
export function networkOf(urls: string[], publisher: string | null = null): Network {
  for (const url of urls.slice(0, -1)) {
    if (!/^https?:/i.test(url) || !URL.canParse(url) || (publisher && sameSite(url, publisher))) continue;
    const network = nameOf(url);
    if (network !== null) return { network, network_host: new URL(url).hostname };
  }
  return NONE;
}

/**
 * An ad server of no known company: the first host of `urls`, from which a creative was loaded, that belongs neither to a publisher nor to any
 * company of the list. Private hosts are skipped: exits cannot reach them.
 */
export function unnamedAdServer(urls: string[], publishers: string[]): Network {
  const found = urls.find(
    (url) =>
      /^https?:/i.test(url) &&
      URL.canParse(url) &&
      isPublicHost(new URL(url).hostname) &&
      !publishers.some((publisher) => sameSite(url, publisher)) &&
      !thirdParties.getEntity(url),
  );
  return found === undefined ? NONE : { network: '', network_host: new URL(found).hostname };
}

/** Categories of companies that serve no ads, even if a header bidder runs on one of their hosts. */
export const NOT_AD_NETWORKS: ReadonlySet<string> = new Set(['analytics', 'consent-provider', 'tag-manager']);

/** The network of an ad server: a company of the list, else a header bidder; null: no known company. */
function nameOf(url: string): string | null {
  const entity = thirdParties.getEntity(url);
  if (entity && (NOT_AD_SERVERS.has(entity.name) || NOT_AD_NETWORKS.has(entity.category))) return null;
  return entity?.category === 'ad' ? entity.name : bidderOf(new URL(url).hostname);
}

const table = JSON.parse(readFileSync(new URL('./tables/bidders.json', import.meta.url), 'utf8')) as {
  bidders: Record<string, string[]>;
};
const BIDDERS: ReadonlyMap<string, string> = new Map(
  Object.entries(table.bidders).flatMap(([name, hosts]) => hosts.map((host) => [host, name] as const)),
);

/** The header bidder at a host or one of its parent domains; null: there is none. */
function bidderOf(host: string): string | null {
  const labels = host.split('.');
  for (const at of labels.keys()) {
    const name = BIDDERS.get(labels.slice(at).join('.'));
    if (name !== undefined) return name;
  }
  return null;
}
