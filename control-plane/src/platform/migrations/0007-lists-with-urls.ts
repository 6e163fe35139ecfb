import type { Migration } from './migration.ts';

const REPLACED = 'organization_id_1_created_at_-1__id_-1';

/**
 * Drops the index of complete lists, because the new one includes the URL. The new one is created with the other
 * indexes.
 */
export const listsWithUrls: Migration = {
  version: 7,
  name: 'lists with URLs',
  async run(store) {
    const scans = store.collection('scans');
    for (const { name } of await scans.indexes()) if (name === REPLACED) await scans.dropIndex(name);
  },
};
