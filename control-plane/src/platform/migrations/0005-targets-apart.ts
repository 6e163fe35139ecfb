import { insertOnce } from '../insert-once.ts';
import type { Document } from '../store.ts';
import { inBatches, type Migration } from './migration.ts';

type Scan = { _id: string; organization_id: string; target: { kind: string; value: string } } & Document;
type TargetText = { _id: string; organization_id: string; text: string };

/** Moves ad tags and VAST documents out of their scans into a separate collection. */
export const targetsApart: Migration = {
  version: 5,
  name: 'targets apart',
  async run(store, checkpoint) {
    const scans = store.collection<Scan>('scans');
    const texts = store.collection<TargetText>('scan_targets');
    const inline = { 'target.kind': { $in: ['ad_tag', 'vast_tag'] }, 'target.value': { $gt: '' } };
    await inBatches(scans, inline, checkpoint, async (documents) => {
      for (const { _id, organization_id, target } of documents) {
        await insertOnce(texts, { _id, organization_id, text: target.value });
        await scans.updateOne({ _id }, { $set: { 'target.value': '' } });
      }
    });
  },
};
