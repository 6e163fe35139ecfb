import { boundedWrites } from '../../platform/bounded-writes.ts';
import { insertOnce } from '../../platform/insert-once.ts';
import type { Collection, Store } from '../../platform/store.ts';
import type { TaxonomyRecord } from './taxonomy.ts';

/** The only code that accesses custom taxonomies. */
export type TaxonomyStore = ReturnType<typeof taxonomyStore>;

/** A taxonomy with as much of its nodes as counting them needs. */
export type ListedTaxonomy = Omit<TaxonomyRecord, 'organization_id' | 'nodes'> & { nodes: { id: string }[] };

const OLDEST = { created_at: 1, _id: 1 } as const;
const WORDS = ['name', 'slug', 'description', 'is_active', 'version', 'nodes.id', 'created_at', 'updated_at'];
const LISTED = Object.fromEntries(WORDS.map((field) => [field, 1]));

/** What the bound of an organization's taxonomies is counted by. */
export type KeptTaxonomy = { id: string; slug: string; is_active: boolean };

export function taxonomyStore(store: Store) {
  const taxonomies: Collection<TaxonomyRecord> = store.collection<TaxonomyRecord>('custom_taxonomies');

  const writeWithin = boundedWrites<KeptTaxonomy>(store, 'custom_taxonomies');

  const kept = async (organization_id: string): Promise<KeptTaxonomy[]> => {
    const projection = { slug: 1, is_active: 1 };
    const rows = taxonomies.find({ organization_id }).project<Omit<KeptTaxonomy, 'id'> & { _id: string }>(projection);
    return (await rows.toArray()).map(({ _id, slug, is_active }) => ({ id: _id, slug, is_active }));
  };

  return {
    async createIndexes(): Promise<void> {
      await taxonomies.createIndex({ organization_id: 1, created_at: 1, _id: 1 });
      await taxonomies.createIndex({ organization_id: 1, is_active: 1, created_at: 1, _id: 1 });
    },

    /** Stores a taxonomy, unless one with this id exists. */
    async insert(taxonomy: TaxonomyRecord): Promise<void> {
      await insertOnce(taxonomies, taxonomy);
    },

    /**
     * Writes a taxonomy of this organization as `take` wants it, which gets the others and throws if there is no room.
     */
    async writeWithin<T>(
      organization_id: string,
      id: string,
      take: (others: KeptTaxonomy[]) => KeptTaxonomy,
      write: (taxonomy: KeptTaxonomy) => Promise<T>,
    ): Promise<T> {
      return writeWithin(organization_id, { id, kept: () => kept(organization_id), take }, write);
    },

    /** A taxonomy of an organization, deleted ones too; null: missing, or another organization's. */
    async find(organization_id: string, _id: string): Promise<TaxonomyRecord | null> {
      return taxonomies.findOne({ _id, organization_id });
    },

    /** An organization's taxonomies, oldest first, their nodes by id alone; deleted ones only on request. */
    async list(organization_id: string, { withDeleted }: { withDeleted: boolean }): Promise<ListedTaxonomy[]> {
      const filter = { organization_id, ...(!withDeleted && { is_active: true }) };
      return taxonomies.find(filter).sort(OLDEST).project<ListedTaxonomy>(LISTED).toArray();
    },

    /** The taxonomies that an organization's scans are classified by, oldest first. */
    async active(organization_id: string): Promise<TaxonomyRecord[]> {
      return taxonomies.find({ organization_id, is_active: true }).sort(OLDEST).toArray();
    },

    /** Removes the taxonomies of an organization that were deleted first, all but the last `most`. */
    async removeOldest(organization_id: string, most: number): Promise<void> {
      const deleted = taxonomies
        .find({ organization_id, is_active: false })
        .sort({ updated_at: -1, _id: -1 })
        .skip(most);
      for (const { _id } of await deleted.project<Pick<TaxonomyRecord, '_id'>>({ _id: 1 }).toArray())
        await taxonomies.deleteOne({ _id, organization_id, is_active: false });
    },

    /** Changes a taxonomy, and its version if its tree changes. Returns the changed record; null: it is gone. */
    async change(organization_id: string, _id: string, set: Partial<TaxonomyRecord>): Promise<TaxonomyRecord | null> {
      const $inc = { version: set.nodes ? 1 : 0 };
      return taxonomies.findOneAndUpdate({ _id, organization_id }, { $set: set, $inc }, { returnDocument: 'after' });
    },
  };
}
