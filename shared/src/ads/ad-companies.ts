import { readFileSync } from 'node:fs';
import thirdParties from 'third-party-web/nostats-subset.js';

/**
 * The company that serves a URL, by the list of third-party-web; null: none is known. `category`: its kind of business,
 * such as `ad`.
 */
export function companyOf(url: string): { name: string; category: string } | null {
  return thirdParties.getEntity(url) ?? null;
}

/**
 * Companies that the list counts as ad networks although they serve no ads: they measure, verify or sell data about
 * people. They are not the network of an ad that passes through them (spec 2.1, rule 1).
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

/** Categories of companies that serve no ads, even if a header bidder runs on one of their hosts. */
export const NOT_AD_NETWORKS: ReadonlySet<string> = new Set(['analytics', 'consent-provider', 'tag-manager']);

/**
 * The name of the ad network behind an http(s) URL: a company of the list, else a header bidder; null: none is known.
 */
export function adNetworkName(url: string): string | null {
  const company = companyOf(url);
  if (company && (NOT_AD_SERVERS.has(company.name) || NOT_AD_NETWORKS.has(company.category))) return null;
  return company?.category === 'ad' ? company.name : bidderOf(new URL(url).hostname);
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
