import { SEVERITIES } from '../../../reference/tags/system-tag.ts';
import type { ListedScan, ScanRecord, ScanTag } from '../../../scan/scan.ts';
import type { PresentedBrief, PresentedTag } from './responses.ts';

/** Finds the definition of a tag; null if there is none or it is archived. */
export type FindTagWords = (
  slug: string,
) => { display_name: string; category: string; severity: PresentedTag['severity'] } | null;

/** A tag of a scan; empty if its definition is archived (spec 2.5). */
export function presentTag(scan: ScanRecord, tag: ScanTag, tagWords: FindTagWords): PresentedTag[] {
  const words = tagWords(tag.tag_slug);
  if (!words) return [];
  const { display_name, category, severity } = words;
  const { id, tag_slug, detail, url, surface } = tag;
  const found = { id, scan_id: scan._id, tag_slug, detail, url, surface };
  const match = tag.match ? { ...tag.match, rule_name: tag.match.rule_name ?? '' } : null;
  return [{ ...found, display_name, category, severity, match, created_at: tag.created_at.toISOString() }];
}

/** The names of a scan's tags, each once, the most severe first; without those whose definition is archived. */
export function presentTagNames({ tags }: ListedScan, tagWords: FindTagWords): PresentedBrief['tags'] {
  const slugs = [...new Set(tags.map(({ tag_slug }) => tag_slug))];
  const named = slugs.flatMap((tag_slug) => {
    const words = tagWords(tag_slug);
    return words ? [{ tag_slug, display_name: words.display_name, severity: words.severity }] : [];
  });
  return named.toSorted((one, other) => SEVERITIES.indexOf(one.severity) - SEVERITIES.indexOf(other.severity));
}
