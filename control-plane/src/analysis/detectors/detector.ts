import type { SystemTagSlug } from '../../reference/tags/system-tags.ts';
import type { ScanTag } from '../../scan/scan.ts';
import type { Evidence, Need } from '../evidence/evidence.ts';

/**
 * A tag that was found and is not assigned to the scan yet; `url` '' = the whole scan (spec 2.5). No combo looks at
 * what a combo found.
 */
export type Finding = Omit<ScanTag, 'id' | 'created_at'>;

/** Evidence that every detector gets. */
type Given = Exclude<keyof Evidence, Need>;

/**
 * Finds something in evidence. Pure, so that a stored capture can be analysed again and a new detector needs no new
 * browser node. It sees the capture and the parts that it `needs`, nothing else.
 */
export type Detector<N extends Need = never> = {
  /** Names the detector in a scan's `error` if it fails. */
  name: string;
  needs: readonly N[];
  detect(evidence: Pick<Evidence, Given | N>): Finding[];
};

/** What was seen on a landing, or in the creative (`landing` null), in words. */
export type Sign = { landing: number | null; text: string };

/** Where something was seen: on a landing, or in the creative (`landing` null). */
export const surfaceOf = (landing: number | null): Finding['surface'] => (landing === null ? 'creative' : 'page');

/** The same in words. */
const placeOf = (landing: number | null): string => (landing === null ? 'creative' : `landing ${landing}`);

/** One tag of the whole scan for all its signs; none if there are no signs. */
export function oneTag(tag_slug: SystemTagSlug, signs: Sign[]): Finding[] {
  if (signs.length === 0) return [];
  const lines = signs.map(({ landing, text }) => `${placeOf(landing)}: ${text}`);
  const surface = signs.every(({ landing }) => landing === null) ? 'creative' : 'page';
  return [{ tag_slug, detail: [...new Set(lines)].join('; '), url: '', surface }];
}

/** Limits against hostile evidence: tags per scan, and characters of a tag's details. */
const FINDINGS_MAX = 200;
/**
 * Characters of all URLs, details and excerpts. Beyond it each slug keeps its first finding, with the beginning of its
 * URL.
 */
const CHARACTERS_MAX = 128 * 1024;
const URL_LENGTH_MIN = 500;
const DETAIL_LENGTH_MAX = 1_000;

/**
 * Findings in order without duplicates by slug, URL and surface; the first of each is kept. Of too many or too large
 * ones, the last ones of the most frequent slugs are left out, so that no tag displaces another.
 */
export function combine(findings: Finding[]): Finding[] {
  // By slug and surface: the URLs, which are long, so that no key is made of them.
  const urls = new Map<string, Set<string>>();
  const all = findings.flatMap((finding) => {
    const key = `${finding.surface}/${finding.tag_slug}`;
    const seen = urls.get(key) ?? new Set();
    if (seen.has(finding.url)) return [];
    urls.set(key, seen.add(finding.url));
    return [{ ...finding, detail: clip(finding.detail) }];
  });
  const mostOfOne = mostOfEach([...Map.groupBy(all, ({ tag_slug }) => tag_slug).values()].map(({ length }) => length));
  const counts = new Map<string, number>();
  const kept = all.filter(({ tag_slug }) => {
    const count = (counts.get(tag_slug) ?? 0) + 1;
    counts.set(tag_slug, count);
    return count <= mostOfOne;
  });
  return withinCharacters(kept.slice(0, FINDINGS_MAX));
}

/** The findings that fit, in their order: the first of each slug before all others. */
function withinCharacters(findings: Finding[]): Finding[] {
  const first = new Map(findings.toReversed().map((finding) => [finding.tag_slug, finding]));
  const isFirst = (finding: Finding) => first.get(finding.tag_slug) === finding;
  const kept = new Map<Finding, Finding>();
  let left = CHARACTERS_MAX;
  for (const finding of [...findings.filter(isFirst), ...findings.filter((one) => !isFirst(one))]) {
    const { url, detail, match } = finding;
    const size = url.length + detail.length + (match?.excerpt.length ?? 0);
    if (size <= left) {
      kept.set(finding, finding);
      left -= size;
    } else if (isFirst(finding)) kept.set(finding, { ...finding, url: url.slice(0, URL_LENGTH_MIN).toWellFormed() });
  }
  return findings.flatMap((finding) => kept.get(finding) ?? []);
}

/**
 * The largest number of findings that each slug may have, so that all slugs together have no more than allowed; at
 * least 1.
 */
function mostOfEach(counts: number[]): number {
  let most = Math.max(0, ...counts);
  while (most > 1 && counts.reduce((sum, count) => sum + Math.min(count, most), 0) > FINDINGS_MAX) most -= 1;
  return most;
}

function clip(detail: string): string {
  return detail.length <= DETAIL_LENGTH_MAX ? detail : `${detail.slice(0, DETAIL_LENGTH_MAX - 1).toWellFormed()}…`;
}
