/** Severities of a tag, most severe first. */
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
