import { insertOnce } from '../../platform/insert-once.ts';
import type { Collection, Store } from '../../platform/store.ts';
import type { TaxonomyRecord } from './taxonomy.ts';

/** The only code that touches custom taxonomies. */
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

    /** Stores a taxonomy; one of that id that is there already stays as it is. */
    async insert(taxonomy: TaxonomyRecord): Promise<void> {
      await insertOnce(taxonomies, taxonomy);
    },

    /** One of an organization, deleted ones too; missing and someone else's look the same. */
    async find(organization_id: string, _id: string): Promise<TaxonomyRecord | null> {
      return taxonomies.findOne({ _id, organization_id });
    },

    all,

    /** Those that the scans of an organization are classified by, oldest first. */
    async active(organization_id: string): Promise<TaxonomyRecord[]> {
      return (await all(organization_id)).filter(({ is_active }) => is_active);
    },

    /** Changes one, its version too where its tree changes; answers it as it then stands, null where it is gone. */
    async change(organization_id: string, _id: string, set: Partial<TaxonomyRecord>): Promise<TaxonomyRecord | null> {
      const $inc = { version: set.nodes ? 1 : 0 };
      return taxonomies.findOneAndUpdate({ _id, organization_id }, { $set: set, $inc }, { returnDocument: 'after' });
    },
  };
}
