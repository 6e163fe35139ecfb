import { boundedWrites } from '../../platform/bounded-writes.ts';
import { insertOnce } from '../../platform/insert-once.ts';
import type { Collection, Filter, Store } from '../../platform/store.ts';
import { type PolicySetRecord, withDerived } from './policy-set.ts';

/** The default set of an organization: one document, so that there is one default. */
type DefaultRecord = { _id: string; policy_set_id: string | null };

const NEWEST = { created_at: -1, _id: -1 } as const;

/** A set without its entries, as a row of a list. */
const ROW = {
  ...{ organization_id: 1, visibility: 1, is_approved: 1, moderation_note: 1, deleted_at: 1, created_at: 1 },
  ...{ name: 1, description: 1, version: 1 },
};
export type PolicySetRow = Pick<
  PolicySetRecord,
  | '_id'
  | 'organization_id'
  | 'visibility'
  | 'is_approved'
  | 'moderation_note'
  | 'deleted_at'
  | 'created_at'
  | 'name'
  | 'description'
  | 'version'
>;

/** The only code that accesses policy sets. */
export type PolicySetStore = ReturnType<typeof policySetStore>;

export function policySetStore(store: Store) {
  const sets: Collection<PolicySetRecord> = store.collection<PolicySetRecord>('policy_sets');
  const defaults: Collection<DefaultRecord> = store.collection<DefaultRecord>('policy_set_defaults');
  const writeWithin = boundedWrites<{ id: string }>(store, 'policy_sets');

  const idsOf = async (organization_id: string) => {
    const rows = sets.find({ organization_id, deleted_at: null }).project<{ _id: string }>({ _id: 1 });
    return (await rows.toArray()).map(({ _id }) => ({ id: _id }));
  };

  return {
    async createIndexes(): Promise<void> {
      await sets.createIndexes([
        { key: { audiences: 1, ...NEWEST } },
        { key: { organization_id: 1, tag_slugs: 1 } },
        { key: { organization_id: 1, deleted_at: 1 } },
      ]);
    },

    /** Stores a set, unless one with this id exists. `requireRoom` gets the number of the organization's other sets and throws. */
    async insert(set: PolicySetRecord, requireRoom: (others: number) => void): Promise<void> {
      const take = (others: { id: string }[]) => {
        requireRoom(others.length);
        return { id: set._id };
      };
      const { organization_id, _id: id } = set;
      await writeWithin(organization_id, { id, kept: () => idsOf(organization_id), take }, async () => {
        await insertOnce(sets, withDerived(set));
      });
    },

    /** A set of any organization, deleted ones too: what of it a caller may see is the caller's to decide. */
    async findAny(id: string): Promise<PolicySetRecord | null> {
      return sets.findOne({ _id: id });
    },

    /** A page of the sets for these audiences, newest first, without their entries, and their number. */
    async list(
      audiences: string[],
      { visibility }: { visibility?: 'private' | 'public' },
      { skip, limit }: { skip: number; limit: number },
    ) {
      const where: Filter<PolicySetRecord> = { audiences: { $in: audiences } };
      if (visibility) where.visibility = visibility;
      const [rows, total] = await Promise.all([
        sets.find(where).sort(NEWEST).skip(skip).limit(limit).project<PolicySetRow>(ROW).toArray(),
        sets.countDocuments(where),
      ]);
      return { rows, total };
    },

    /** Replaces a set if nobody changed it since it was read; null: somebody did. */
    async change(set: PolicySetRecord, change: Partial<PolicySetRecord>): Promise<PolicySetRecord | null> {
      const { _id, organization_id, version } = set;
      const { _id: _, ...next } = withDerived({ ...set, ...change, version: version + 1 });
      return sets.findOneAndUpdate({ _id, organization_id, version }, { $set: next }, { returnDocument: 'after' });
    },

    async remove({ _id, organization_id, version }: PolicySetRecord): Promise<boolean> {
      return (await sets.deleteOne({ _id, organization_id, version })).deletedCount === 1;
    },

    /** The names of sets by id, for the alerts of an organization: own ones, and the approved copies of others; deleted ones are missing. */
    async namesFor(organizationId: string, ids: string[]): Promise<Map<string, string>> {
      const fields = { organization_id: 1, name: 1, 'approved.name': 1 };
      const rows = await sets
        .find({ _id: { $in: ids }, deleted_at: null })
        .project<Pick<PolicySetRecord, '_id' | 'organization_id' | 'name'> & { approved: { name: string } | null }>(
          fields,
        )
        .toArray();
      return new Map(
        rows.flatMap(({ _id, organization_id, name, approved }) => {
          const shown = organization_id === organizationId ? name : approved?.name;
          return shown === undefined ? [] : [[_id, shown] as const];
        }),
      );
    },

    /** The name of a set of this organization that names a tag; null: none does. */
    async namingTag(organization_id: string, slug: string): Promise<string | null> {
      const [found] = await sets
        .find({ organization_id, tag_slugs: slug, deleted_at: null })
        .limit(1)
        .project<Pick<PolicySetRecord, 'name'>>({ name: 1 })
        .toArray();
      return found?.name ?? null;
    },

    /** The id of the organization's default set; null: it has none. */
    async defaultOf(organizationId: string): Promise<string | null> {
      return (await defaults.findOne({ _id: organizationId }))?.policy_set_id ?? null;
    },

    /** Makes a set the default of its organization, or no longer. */
    async setDefault({ _id, organization_id }: Pick<PolicySetRecord, '_id' | 'organization_id'>, isDefault: boolean) {
      if (!isDefault) {
        await defaults.updateOne({ _id: organization_id, policy_set_id: _id }, { $set: { policy_set_id: null } });
        return;
      }
      await insertOnce(defaults, { _id: organization_id, policy_set_id: _id });
      await defaults.updateOne({ _id: organization_id }, { $set: { policy_set_id: _id } });
    },
  };
}
