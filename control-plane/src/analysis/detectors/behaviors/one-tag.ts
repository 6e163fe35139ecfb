import type { SystemTagSlug } from '../../../reference/tags/system-tags.ts';
import type { Finding } from '../finding.ts';

/** What was seen of a landing, or of the creative (`landing` null), in words. */
export type Sign = { landing: number | null; text: string };

/** One tag of the whole scan for all signs of it; none where there are none. */
export function oneTag(tag_slug: SystemTagSlug, signs: Sign[]): Finding[] {
  if (signs.length === 0) return [];
  const lines = signs.map(({ landing, text }) => `${landing === null ? 'creative' : `landing ${landing}`}: ${text}`);
  const surface = signs.every(({ landing }) => landing === null) ? 'creative' : 'page';
  return [{ tag_slug, detail: [...new Set(lines)].join('; '), url: '', surface }];
}
