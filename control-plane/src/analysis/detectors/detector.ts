import type { SystemTagSlug } from '../../reference/tags/system-tags.ts';
import type { TagMatch } from '../../scan/scan.ts';
import type { Evidence, Need } from '../evidence/evidence.ts';

/** A tag that was found and is not assigned to the scan yet; `url` '' = the whole scan (spec 2.5). */
export type Finding = {
  tag_slug: string;
  detail: string;
  url: string;
  surface: 'page' | 'creative';
  /** For findings of rules: which rule, and where it matched. */
  match?: TagMatch;
};

/** Evidence that every detector gets. */
type Given = Exclude<keyof Evidence, Need>;

/**
 * Finds something in evidence. Pure, so that a stored capture can be analysed again and a new detector needs no new browser node. It sees the
 * capture and the parts that it `needs`, nothing else.
 */
export type Detector<N extends Need = never> = {
  /** Names the detector in a scan's `error` if it fails. */
  name: string;
  needs: readonly N[];
  detect(evidence: Pick<Evidence, Given | N>): Finding[];
};

/** What was seen on a landing, or in the creative (`landing` null), in words. */
export type Sign = { landing: number | null; text: string };

/** One tag of the whole scan for all its signs; none if there are no signs. */
export function oneTag(tag_slug: SystemTagSlug, signs: Sign[]): Finding[] {
  if (signs.length === 0) return [];
  const lines = signs.map(({ landing, text }) => `${landing === null ? 'creative' : `landing ${landing}`}: ${text}`);
  const surface = signs.every(({ landing }) => landing === null) ? 'creative' : 'page';
  return [{ tag_slug, detail: [...new Set(lines)].join('; '), url: '', surface }];
}

/** Limits against hostile evidence: tags per scan, and characters of a tag's details. */
const FINDINGS_MAX = 200;
const DETAIL_LENGTH_MAX = 1_000;

/** Findings in order without duplicates by slug, URL and surface; the first of each is kept. */
export function combine(findings: Finding[]): Finding[] {
  const unique = new Map<string, Finding>();
  for (const finding of findings) {
    const key = JSON.stringify([finding.tag_slug, finding.url, finding.surface]);
    if (!unique.has(key)) unique.set(key, { ...finding, detail: clip(finding.detail) });
  }
  return [...unique.values()].slice(0, FINDINGS_MAX);
}

function clip(detail: string): string {
  return detail.length <= DETAIL_LENGTH_MAX ? detail : `${detail.slice(0, DETAIL_LENGTH_MAX - 1).toWellFormed()}…`;
}
