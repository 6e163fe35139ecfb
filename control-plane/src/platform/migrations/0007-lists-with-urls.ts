import type { Migration } from './migration.ts';

const REPLACED = 'organization_id_1_created_at_-1__id_-1';

/** The index of whole lists holds the URL too: the one without it goes, and the new one is made with the others. */
export const listsWithUrls: Migration = {
  version: 7,
  name: 'lists with URLs',
  async run(store) {
    const scans = store.collection('scans');
    for (const { name } of await scans.indexes()) if (name === REPLACED) await scans.dropIndex(name);
  },
};
