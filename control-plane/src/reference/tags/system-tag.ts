/** Severities of a tag, most severe first. */
export const SEVERITIES = ['high', 'medium', 'low'] as const;
export type Severity = (typeof SEVERITIES)[number];

/** A built-in tag, which every installation has. `visibility`: whether public reports show it. */
export type SystemTag = {
  slug: string;
  category: string;
  severity: Severity;
  visibility: 'hidden' | 'internal' | 'public';
  display_name: string;
  description: string;
};
