import type { TagMatch } from '../../scan/scan.ts';

/** A tag that detection found, before it is assigned to the scan; `url` '' = the whole scan (spec 2.5). */
export type Finding = {
  tag_slug: string;
  detail: string;
  url: string;
  surface: 'page' | 'creative';
  /** For what a rule found: which, and where. */
  match?: TagMatch;
};
