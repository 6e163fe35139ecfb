import thirdParties from 'third-party-web/nostats-subset.js';

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
 * to the landing.
 */
export function networkOf(urls: string[]): Network {
  for (const url of urls.slice(0, -1)) {
    const entity = /^https?:/i.test(url) ? thirdParties.getEntity(url) : undefined;
    if (entity?.category === 'ad' && !NOT_AD_SERVERS.has(entity.name))
      return { network: entity.name, network_host: new URL(url).hostname };
  }
  return NONE;
}
