import type { Migration } from './migration.ts';

const REPLACED = 'organization_id_1_slot_1';

/** Drops the index of slots, which bounded the webhook endpoints of an organization: new endpoints have none. */
export const endpointsWithoutSlots: Migration = {
  version: 11,
  name: 'webhook endpoints without slots',
  async run(store) {
    const endpoints = store.collection('webhook_endpoints');
    // MongoDB lists no indexes of a collection that does not exist: one of its current indexes makes it.
    await endpoints.createIndex({ due_at: 1 }, { sparse: true });
    for (const { name } of await endpoints.indexes()) if (name === REPLACED) await endpoints.dropIndex(name);
  },
};
