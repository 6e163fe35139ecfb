import type { Document } from '../store.ts';
import { inBatches, type Migration } from './migration.ts';

type Scan = { _id: string; target: { kind: string } } & Document;

/** Gives every scan its crawl job. In older versions each scan was the only member of its own job. */
export const scansInJobs: Migration = {
  version: 3,
  name: 'scans in jobs',
  async run(store, checkpoint) {
    const scans = store.collection<Scan>('scans');
    await inBatches(scans, { slot: { $exists: false } }, checkpoint, async (documents) => {
      const writes = documents.map(({ _id, target }) => {
        const job_kind = target.kind === 'url' ? 'page' : target.kind;
        const $set = { job_id: _id, job_kind, slot: 0, parent_scan_id: null };
        return { updateOne: { filter: { _id }, update: { $set } } };
      });
      await scans.bulkWrite(writes);
    });
  },
};
