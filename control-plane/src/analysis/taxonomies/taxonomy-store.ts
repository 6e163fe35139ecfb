import { insertOnce } from '../../platform/insert-once.ts';
import type { Collection, Store } from '../../platform/store.ts';
import type { TaxonomyRecord } from './taxonomy.ts';

/** The only code that accesses custom taxonomies. */
export type TaxonomyStore = ReturnType<typeof taxonomyStore>;

export function taxonomyStore(store: Store) {
  const taxonomies: Collection<TaxonomyRecord> = store.collection<TaxonomyRecord>('custom_taxonomies');

  /** All of an organization, oldest first, deleted ones too. */
  const all = (organization_id: string): Promise<TaxonomyRecord[]> =>
    taxonomies.find({ organization_id }).sort({ created_at: 1, _id: 1 }).toArray();

  return {
    async createIndexes(): Promise<void> {
      await taxonomies.createIndex({ organization_id: 1, created_at: 1, _id: 1 });
    },

    /** Stores a taxonomy, unless one with this id exists. */
    async insert(taxonomy: TaxonomyRecord): Promise<void> {
      await insertOnce(taxonomies, taxonomy);
    },

    /** A taxonomy of an organization, deleted ones too; null: missing, or another organization's. */
    async find(organization_id: string, _id: string): Promise<TaxonomyRecord | null> {
      return taxonomies.findOne({ _id, organization_id });
    },

    all,

    /** The taxonomies that an organization's scans are classified by, oldest first. */
    async active(organization_id: string): Promise<TaxonomyRecord[]> {
      return (await all(organization_id)).filter(({ is_active }) => is_active);
    },

    /** Changes a taxonomy, and its version if its tree changes. Returns the changed record; null: it is gone. */
    async change(organization_id: string, _id: string, set: Partial<TaxonomyRecord>): Promise<TaxonomyRecord | null> {
      const $inc = { version: set.nodes ? 1 : 0 };
      return taxonomies.findOneAndUpdate({ _id, organization_id }, { $set: set, $inc }, { returnDocument: 'after' });
    },
  };
}
