/**
 * What a finished scan of a run showed, computed once: the next run of its campaign is compared with it. `target`: a
 * hash of what was scanned (absent: an earlier version wrote it). `chain`: the registrable domains on the way to the
 * landing, each once in a row. Pictures are perceptual hashes, 64 bits in hexadecimal. null: there was none.
 */
export type Look = { target?: string; landing: LandingLook | null; creative: string | null };

export type LandingLook = { url: string; domain: string; chain: string[]; picture: string | null };

/** The look of a scan of an earlier run. */
export type EarlierLook = { scan_id: string; run_id: string; look: Look };

export const LOOK_DIFFERENCES = ['domain', 'redirects', 'picture'] as const;
export type LookDifference = (typeof LOOK_DIFFERENCES)[number];

/**
 * What differs from the run before: `what`, and in which scan of that run it was as it was. `before` and `after`: the
 * URLs of the landings; '' for a creative.
 */
export type LookChange = {
  kind: 'creative' | 'landing';
  what: LookDifference[];
  previous_scan_id: string;
  previous_run_id: string;
  before: string;
  after: string;
};
