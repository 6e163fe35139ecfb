/** How grave a tag is, gravest first. */
export const SEVERITIES = ['high', 'medium', 'low'] as const;
export type Severity = (typeof SEVERITIES)[number];

/** A tag that every installation has. `visibility`: whether a public report names it. */
export type SystemTag = {
  slug: string;
  category: string;
  severity: Severity;
  visibility: 'hidden' | 'internal' | 'public';
  display_name: string;
  description: string;
};

/** What Adsweep itself can find (spec 2.5). */
export const SYSTEM_TAGS = [
  {
    slug: 'back_button',
    category: 'behavior',
    severity: 'medium',
    visibility: 'public',
    display_name: 'Back button hijack',
    description:
      'The landing fills the browser history with copies of itself and intercepts Back to push another offer.',
  },
  {
    slug: 'autosound',
    category: 'behavior',
    severity: 'medium',
    visibility: 'public',
    display_name: 'Sound on open',
    description: 'The landing tries to play sound on open, without the visitor pressing play.',
  },
  {
    slug: 'invalid_certificate',
    category: 'security',
    severity: 'low',
    visibility: 'public',
    display_name: 'Invalid certificate',
    description: 'A document was served with a certificate that browsers do not trust for its host.',
  },
  {
    slug: 'exit_mismatch',
    category: 'proxy',
    severity: 'medium',
    visibility: 'public',
    display_name: 'Exit in another country',
    description:
      'The traffic of the scan left in another country than was asked for, so visitors of that one may see something else.',
  },
  {
    slug: 'vast_media_unplayable',
    category: 'video',
    severity: 'medium',
    visibility: 'public',
    display_name: 'Video does not play',
    description: 'The video of the ad could not be fetched or played, or there is none for the device.',
  },
  {
    slug: 'vast_duplicate_impression',
    category: 'video',
    severity: 'medium',
    visibility: 'public',
    display_name: 'Impression counted twice',
    description: 'The same impression is declared more than once, so that one view is counted several times.',
  },
  {
    slug: 'vast_vpaid',
    category: 'video',
    severity: 'low',
    visibility: 'public',
    display_name: 'VPAID',
    description: 'The ad brings a script that runs in the player (VPAID).',
  },
  {
    slug: 'vast_nonlinear',
    category: 'video',
    severity: 'low',
    visibility: 'public',
    display_name: 'Overlay ad',
    description: 'The ad has no video: it is shown over the content.',
  },
  {
    slug: 'vast_simid',
    category: 'video',
    severity: 'low',
    visibility: 'public',
    display_name: 'Interactive video ad',
    description: 'The ad brings an interactive layer (SIMID).',
  },
  {
    slug: 'vast_omid',
    category: 'video',
    severity: 'low',
    visibility: 'public',
    display_name: 'Verification scripts',
    description: 'The ad brings scripts that verify what is shown (OMID or others).',
  },
  {
    slug: 'vast_insecure_url',
    category: 'video',
    severity: 'low',
    visibility: 'public',
    display_name: 'Addresses without encryption',
    description: 'A VAST document names http addresses, which pages that are encrypted do not load.',
  },
  {
    slug: 'vast_duration_mismatch',
    category: 'video',
    severity: 'low',
    visibility: 'public',
    display_name: 'Wrong duration',
    description: 'The video takes longer, or less long, than its document says.',
  },
  {
    slug: 'vast_bitrate_mismatch',
    category: 'video',
    severity: 'low',
    visibility: 'public',
    display_name: 'Wrong bitrate',
    description: 'The bitrate of the video is not the one that its document says.',
  },
  {
    slug: 'vast_invalid_value',
    category: 'video',
    severity: 'low',
    visibility: 'public',
    display_name: 'Invalid VAST value',
    description: 'A VAST document has a value that the standard does not allow.',
  },
  {
    slug: 'vast_missing_element',
    category: 'video',
    severity: 'low',
    visibility: 'public',
    display_name: 'Incomplete VAST',
    description: 'A VAST document lacks something that the standard requires.',
  },
  {
    slug: 'vast_tracker_failed',
    category: 'video',
    severity: 'low',
    visibility: 'public',
    display_name: 'Tracker does not answer',
    description: 'A tracker of the ad was asked for and did not answer, or refused.',
  },
] as const satisfies SystemTag[];
