import type { RefusalTexts } from './upstream-refusal.ts';
import { stateCode } from './us-states.ts';
import { numberedSession, plainSession, type Spelling, type UserNameValues } from './user-name.ts';

/** How a vendor is told the place and the session, and what its refusals say. */
export type Vendor = {
  /** What follows the account's name; null: the configured user name is the whole template. Pure. */
  suffix: ((values: UserNameValues) => string) | null;
  spelling: Spelling;
  /** These words go before the status. */
  texts: RefusalTexts;
};

const UNDERSCORES: Spelling = { space: '_', session: plainSession };

/** `-key-value` for each value that is there. */
const flags = (pairs: Record<string, string>): string =>
  Object.entries(pairs)
    .map(([key, value]) => (value ? `-${key}-${value}` : ''))
    .join('');

/**
 * The vendors that target by user name, as their public documents describe it (record 23 has the pages). A vendor whose policy refuses
 * a host (`denied_host`) would refuse it by any of its exits. What a vendor writes otherwise, or will, `template` can be told.
 */
export const VENDORS = {
  template: { suffix: null, spelling: UNDERSCORES, texts: [] },
  brightdata: {
    suffix: ({ country, region, city, session }) =>
      flags({ country, state: country === 'us' ? stateCode(region) : region, city, session }),
    spelling: { space: '', session: plainSession },
    texts: [
      [/\bclient[_-]1006[12]\b|\bno_peers?\b|peer not found|could not find a peer|peer for .* not found/i, 'no_exit'],
      [/\bpolicy[_-]2\d{4}\b|\bclient[_-]102[56]0\b/i, 'denied_host'],
      [/\bclient[_-]1\d{4}\b|auth failed|zone (has reached|is not active)/i, 'account_refused'],
      [/\btarget[_-]40001\b|target.*(can ?not|could not) be resolved/i, 'dns'],
    ],
  },
  oxylabs: {
    // A state stands in place of the country.
    suffix: ({ country, region, city, session }) =>
      region
        ? flags({ st: `${country}_${region}`, city, sessid: session })
        : flags({ cc: country, city, sessid: session }),
    spelling: UNDERSCORES,
    texts: [
      [/^\s*525\b|custom session did not find|no exit/i, 'no_exit'],
      [/restricted target/i, 'denied_host'],
      [/traffic limit|subscription/i, 'account_refused'],
    ],
  },
  netnut: {
    suffix: ({ country, region, city, session, proxy_type }) => {
      const network = proxy_type === 'mobile' ? 'mob' : 'res';
      // Only in the United States does a city follow its state.
      const place = country === 'us' || !city ? [region, city] : [city];
      const narrow = region || city ? '_sc' : '';
      return `-${network}${narrow}-${[country === 'gb' ? 'uk' : country, ...place].filter(Boolean).join('_')}-sid-${session}`;
    },
    spelling: { space: '', session: numberedSession },
    texts: [[/not authori[sz]ed|quota/i, 'account_refused']],
  },
} as const satisfies Record<string, Vendor>;

export type VendorKind = keyof typeof VENDORS;
export const VENDOR_KINDS = Object.keys(VENDORS) as VendorKind[];
