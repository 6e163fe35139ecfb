import { pause } from '@adsweep/shared/service/time-slice.ts';
import type { CursorPosition } from '../../http/page.ts';
import type { Tags } from '../../reference/tags/tag-definitions.ts';
import type { ScanDomain } from '../../scan/scan-domain.ts';
import { type PolicyEntry, violationsOf } from './policy.ts';

/** A preview looks at the newest scans, up to this many. */
const PREVIEWED_MAX = 5_000;
const READ_AT_ONCE = 500;
const SAMPLES_MAX = 10;

export type Preview = {
  scans: number;
  alerts: number;
  by_entry: { entry_id: string; alerts: number }[];
  sample_scan_ids: string[];
};

/**
 * How many alerts the entries would have raised over finished scans of the organization, the newest first. Nothing is
 * written.
 */
export async function previewPolicy(
  { judgedSince }: Pick<ScanDomain['stores']['scans'], 'judgedSince'>,
  organizationId: string,
  { entries, tags, since, campaigns }: { entries: PolicyEntry[]; tags: Tags; since: Date; campaigns: string[] | null },
): Promise<Preview> {
  const counts = new Map(entries.map(({ id }) => [id, 0]));
  const samples: string[] = [];
  let [scans, alerts] = [0, 0];
  let after: CursorPosition | null = null;
  do {
    const limit = Math.min(READ_AT_ONCE, PREVIEWED_MAX - scans);
    const page = await judgedSince(organizationId, { since, campaigns, after, limit });
    for (const { _id, country_code, classification, tags: assigned } of page.rows) {
      const tag_slugs = new Set(assigned.map(({ tag_slug }) => tag_slug));
      const violations = violationsOf(entries, { country_code, classification, tag_slugs }, tags);
      for (const { entry_id } of violations) counts.set(entry_id, (counts.get(entry_id) ?? 0) + 1);
      if (violations.length > 0 && samples.length < SAMPLES_MAX) samples.push(_id);
      alerts += violations.length;
      // A set may have hundreds of entries.
      await pause();
    }
    scans += page.rows.length;
    after = page.last;
  } while (after && scans < PREVIEWED_MAX);
  const by_entry = [...counts].map(([entry_id, ofEntry]) => ({ entry_id, alerts: ofEntry }));
  return { scans, alerts, by_entry, sample_scan_ids: samples };
}
