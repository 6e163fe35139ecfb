import type { Migration } from './migration.ts';

const REPLACED = 'status_1_due_at_1';

/** Drops the index of scans by status and time: those that wait for their analysis are found by organization. */
export const analysisInTurns: Migration = {
  version: 12,
  name: 'analysis in turns of organizations',
  async run(store) {
    const scans = store.collection('scans');
    // MongoDB lists no indexes of a collection that does not exist: one of its current indexes makes it.
    await scans.createIndex({ status: 1, organization_id: 1, crawled_at: 1 });
    for (const { name } of await scans.indexes()) if (name === REPLACED) await scans.dropIndex(name);
  },
};
