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
] as const satisfies SystemTag[];
