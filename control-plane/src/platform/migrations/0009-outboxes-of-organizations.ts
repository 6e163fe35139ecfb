import type { Document } from '../store.ts';
import { inBatches, type Migration } from './migration.ts';

type Organization = { _id: string; organization_id?: string; outbox?: never[] } & Document;

/** Gives organizations an outbox, for their audit log, and `organization_id`, which every record with an outbox has. */
export const outboxesOfOrganizations: Migration = {
  version: 9,
  name: 'outboxes of organizations',
  async run(store, checkpoint) {
    const organizations = store.collection<Organization>('organizations');
    await inBatches(organizations, { organization_id: { $exists: false } }, checkpoint, async (documents) => {
      for (const { _id } of documents)
        await organizations.updateOne({ _id }, { $set: { organization_id: _id, outbox: [] } });
    });
  },
};
