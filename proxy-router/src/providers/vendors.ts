import type { RefusalTexts } from './upstream-refusal.ts';
import { numberedSession, plainSession, type Spelling } from './user-name.ts';

/** How a vendor is told the place and the session, and what its refusals say. */
export type Vendor = {
  /** What follows the account's name; null: the configured user name is the whole template. */
  suffix: string | null;
  spelling: Spelling;
  texts: RefusalTexts;
};

const UNDERSCORES: Spelling = { space: '_', session: plainSession };

/**
 * The vendors that target by user name, as their public documents describe it. What a vendor writes otherwise, or will, `template` can
 * be told.
 */
export const VENDORS = {
  template: { suffix: null, spelling: UNDERSCORES, texts: [] },
  brightdata: {
    suffix: '-country-{country}[-state-{region}][-city-{city}][-session-{session}]',
    spelling: { space: '', session: plainSession },
    texts: [
      [/\bclient_1\d{4}\b|auth failed|zone (has reached|is not active)/i, 'account_refused'],
      [/\bno_peers?\b|could not find a peer|peer for .* not found/i, 'no_exit'],
      [/\btarget_40001\b|target.*(can ?not|could not) be resolved/i, 'dns'],
    ],
  },
  oxylabs: {
    suffix: '-cc-{country}[-st-{country}_{region}][-city-{city}][-sessid-{session}]',
    spelling: UNDERSCORES,
    texts: [
      [/^\s*525\b|custom session did not find|no exit/i, 'no_exit'],
      [/traffic limit|subscription/i, 'account_refused'],
    ],
  },
  netnut: {
    suffix: '-res-{country}[-state-{region}][-city-{city}][-sid-{session}]',
    spelling: { space: '', session: numberedSession },
    texts: [[/not authori[sz]ed|quota/i, 'account_refused']],
  },
} as const satisfies Record<string, Vendor>;

export type VendorKind = keyof typeof VENDORS;
export const VENDOR_KINDS = Object.keys(VENDORS) as VendorKind[];
