import type { Document } from '../store.ts';
import { inBatches, type Migration } from './migration.ts';

type Scan = { _id: string; target: { kind: string } } & Document;

/** Every scan names its crawl job. Until now each had one of its own, of which it was the only member. */
export const scansInJobs: Migration = {
  version: 3,
  name: 'scans in jobs',
  async run(store, checkpoint) {
    const scans = store.collection<Scan>('scans');
    await inBatches(scans, { job_id: { $exists: false } }, checkpoint, async (documents) => {
      const writes = documents.map(({ _id, target }) => {
        const job_kind = target.kind === 'url' ? 'page' : target.kind;
        return { updateOne: { filter: { _id }, update: { $set: { job_id: _id, job_kind, parent_scan_id: null } } } };
      });
      await scans.bulkWrite(writes);
    });
  },
};
