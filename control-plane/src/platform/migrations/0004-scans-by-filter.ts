import type { Document } from '../store.ts';
import { inBatches, type Migration } from './migration.ts';

type Tiers = { tier1: string; tier2: string | null; tier3: string | null; tier4: string | null };
type Classification = { brand: string | null; ai_category: Tiers | null; iab_v3: Tiers | null };
type Scan = {
  _id: string;
  run_id?: string | null;
  parent_scan_id?: string | null;
  campaign_id?: string | null;
  labels?: Record<string, string>;
  classification?: Classification | null;
} & Document;

/** Replaced indexes; that of the report token was unique, which a sharded collection does not allow. */
const REPLACED = ['report_token_1', 'organization_id_1_tags.tag_slug_1_created_at_-1'];

/** Gives every scan its `filter_keys`, by which lists are filtered. */
export const scansByFilter: Migration = {
  version: 4,
  name: 'scans by filter',
  async run(store, checkpoint) {
    const scans = store.collection<Scan>('scans');
    await inBatches(scans, { filter_keys: { $exists: false } }, checkpoint, async (documents) => {
      const writes = documents.map((scan) => ({
        updateOne: { filter: { _id: scan._id }, update: { $set: { filter_keys: keysOf(scan) } } },
      }));
      await scans.bulkWrite(writes);
    });
    for (const { name } of await scans.indexes()) if (REPLACED.includes(name!)) await scans.dropIndex(name!);
  },
};

function keysOf({ run_id, parent_scan_id, campaign_id, labels, classification }: Scan): string[] {
  const single = { run: run_id, parent: parent_scan_id, campaign: campaign_id };
  return [
    ...Object.entries(single).flatMap(([kind, value]) => (value ? [`${kind}:${value}`] : [])),
    ...(classification?.brand ? [`brand:${classification.brand.toLowerCase()}`] : []),
    ...Object.entries(labels ?? {}).map(([key, value]) => `label:${key}=${value}`),
    ...pathsOf('ai_category', classification?.ai_category),
    ...pathsOf('iab_v3', classification?.iab_v3),
  ];
}

function pathsOf(kind: string, tiers: Tiers | null | undefined): string[] {
  if (!tiers) return [];
  const names = [tiers.tier1, tiers.tier2, tiers.tier3, tiers.tier4].filter((name) => name !== null);
  return names.map(
    (_, depth) =>
      `${kind}:${names
        .slice(0, depth + 1)
        .join('/')
        .toLowerCase()}`,
  );
}
