import { SEVERITIES, type SystemTag } from '../../reference/tags/system-tag.ts';
import { matchWords } from '../../scan/place-words.ts';
import type { ScanTag } from '../../scan/scan.ts';
import { clip, DETAIL_MAX, TITLE_MAX, URL_MAX } from './clip.ts';
import type { ReportMatch, ReportTag } from './report.ts';

/** How a tag is described; only a `public` one may be named in a report. */
export type TagWords = Omit<SystemTag, 'slug'>;

/** The tags of a scan that everybody may see, the most severe first. `tagWords` knows no archived tag, `privateUrl` is not repeated. */
export function publicTags(
  tags: readonly ScanTag[],
  tagWords: (slug: string) => TagWords | null,
  privateUrl: string,
): ReportTag[] {
  return tags.flatMap((tag) => publicTag(tag, tagWords(tag.tag_slug), privateUrl)).sort(bySeverity);
}

function publicTag(tag: ScanTag, words: TagWords | null, privateUrl: string): ReportTag[] {
  if (words?.visibility !== 'public') return [];
  const { display_name: name, category, severity, description } = words;
  const detail = tag.match ? '' : clip(tag.detail, DETAIL_MAX);
  const url = tag.url === privateUrl ? '' : clip(tag.url, URL_MAX);
  const match = publicMatch(tag);
  return [{ slug: tag.tag_slug, name, category, severity, description, detail, url, match }];
}

/** A rule that looks for a text in a page can find the marks of the hit there: the first ones count. */
function publicMatch({ match }: ScanTag): ReportMatch | null {
  if (!match) return null;
  const [, before = match.excerpt, hit = '', after = ''] = /^([^«]*)«([^»]*)»(.*)$/su.exec(match.excerpt) ?? [];
  const rule = clip(match.rule_name ?? '', TITLE_MAX);
  return { rule, where: matchWords(match), before, hit, after };
}

const bySeverity = (one: ReportTag, other: ReportTag): number =>
  SEVERITIES.indexOf(one.severity) - SEVERITIES.indexOf(other.severity);
