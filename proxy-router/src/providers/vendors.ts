import type { RefusalTexts } from './upstream-refusal.ts';
import { numberedSession, plainSession, type Spelling, type UserNameValues } from './user-name.ts';

/** How a vendor's user name encodes the place and the session, and what its refusals mean. */
export type Vendor = {
  /** The part after the account's name; null: the configured user name is the whole template. Pure. */
  suffix: ((values: UserNameValues) => string) | null;
  spelling: Spelling;
  /** Matched before the status. */
  texts: RefusalTexts;
};

const UNDERSCORES: Spelling = { space: '_', session: plainSession };

/** `-key-value` for each value that is not empty. */
const flags = (pairs: Record<string, string>): string =>
  Object.entries(pairs)
    .map(([key, value]) => (value ? `-${key}-${value}` : ''))
    .join('');

/**
 * The vendors that target by user name, as their public documents describe it (record 23 has the pages). A vendor whose
 * policy refuses a host (`denied_host`) refuses it through any of its exits. For other vendors, or when one changes its
 * format, use `template`.
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
    // A state replaces the country.
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
      // A city is preceded by its state in the United States only.
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

const NAMES =
  'Alabama AL,Alaska AK,Arizona AZ,Arkansas AR,California CA,Colorado CO,Connecticut CT,Delaware DE,District of Columbia DC,Florida FL,' +
  'Georgia GA,Hawaii HI,Idaho ID,Illinois IL,Indiana IN,Iowa IA,Kansas KS,Kentucky KY,Louisiana LA,Maine ME,Maryland MD,' +
  'Massachusetts MA,Michigan MI,Minnesota MN,Mississippi MS,Missouri MO,Montana MT,Nebraska NE,Nevada NV,New Hampshire NH,' +
  'New Jersey NJ,New Mexico NM,New York NY,North Carolina NC,North Dakota ND,Ohio OH,Oklahoma OK,Oregon OR,Pennsylvania PA,' +
  'Rhode Island RI,South Carolina SC,South Dakota SD,Tennessee TN,Texas TX,Utah UT,Vermont VT,Virginia VA,Washington WA,' +
  'West Virginia WV,Wisconsin WI,Wyoming WY';

const plain = (name: string): string => name.toLowerCase().replace(/[^a-z]/g, '');

const CODES = new Map(
  NAMES.split(',').map((line) => [plain(line.slice(0, -3)), line.slice(-2).toLowerCase()] as const),
);

/**
 * The postal code of a state of the US in lower case (`tx`), by its name in any spelling; other names are returned
 * unchanged. Pure.
 */
const stateCode = (name: string): string => CODES.get(plain(name)) ?? name;
