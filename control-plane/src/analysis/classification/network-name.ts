import { isPublicHost } from '@adsweep/shared/urls/public-host.ts';
import { sameSite } from '@adsweep/shared/urls/registrable-domain.ts';
import thirdParties from 'third-party-web/nostats-subset.js';
import { bidderOf } from './bidders.ts';

/** The ad server's network; both '' where no ad server can be named. */
export type Network = { network: string; network_host: string };

const NONE: Network = { network: '', network_host: '' };

/**
 * Companies that the list has among ad networks although they serve no ads: they measure, verify or sell data about people. Ads that
 * pass through them belong to no network (spec 2.1, rule 1).
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
 * The ad network that led to a landing: of the hops before it, the first whose host belongs to one. `urls` is the chain from the entry
 * to the landing. Hosts of `publisher`, the page that the ad stands on, serve its own creatives (spec 2.1, rule 1).
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
 * The ad server that nobody has a name for: the first host among `urls`, what a creative was loaded from, that is neither the publisher's nor
 * a company's that the list knows, whatever that does. An address that no exit leads to served nothing.
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

/** Kinds of companies that serve no ads, also where a header bidder is asked under one of their hosts. */
export const NOT_AD_NETWORKS: ReadonlySet<string> = new Set(['analytics', 'consent-provider', 'tag-manager']);

/** The network whose ad server this is: a company of the list, else a header bidder; null: nobody's that is known. */
function nameOf(url: string): string | null {
  const entity = thirdParties.getEntity(url);
  if (entity && (NOT_AD_SERVERS.has(entity.name) || NOT_AD_NETWORKS.has(entity.category))) return null;
  return entity?.category === 'ad' ? entity.name : bidderOf(new URL(url).hostname);
}
