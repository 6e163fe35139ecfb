import { ApiError } from '../../http/api-error.ts';
import { type Amount, boundedSums } from '../../platform/bounded-sums.ts';
import { insertOnce } from '../../platform/insert-once.ts';
import type { Collection, Filter, Store } from '../../platform/store.ts';
import { type PolicySetRecord, withDerived } from './policy-set.ts';

/** The default set of an organization: one document, so that there is one default. */
type DefaultRecord = { _id: string; policy_set_id: string | null };

const NEWEST = { created_at: -1, _id: -1 } as const;

/** A set without its entries, as a row of a list. */
const ROW = {
  organization_id: 1,
  visibility: 1,
  is_approved: 1,
  moderation_note: 1,
  deleted_at: 1,
  created_at: 1,
  name: 1,
  description: 1,
  version: 1,
} as const;
export type PolicySetRow = Pick<PolicySetRecord, '_id' | keyof typeof ROW>;

/** The only code that accesses policy sets. */
export type PolicySetStore = ReturnType<typeof policySetStore>;

/** Of one organization. `bytes`: of names, descriptions and entries as JSON. */
const MOST: Amount = { records: 500, bytes: 32 * 1024 * 1024 };

export function policySetStore(store: Store, most = MOST) {
  const sets: Collection<PolicySetRecord> = store.collection<PolicySetRecord>('policy_sets');
  const defaults: Collection<DefaultRecord> = store.collection<DefaultRecord>('policy_set_defaults');

  async function* sizesOf(organization_id: string) {
    for await (const set of sets.find({ organization_id, deleted_at: null })) yield bytesOf(set);
  }
  const refuse = () =>
    new ApiError(
      'policies.too_many',
      `There can be at most ${most.records} policy sets, whose texts and entries have at most ${most.bytes} bytes together.`,
    );
  const writeWithin = boundedSums(store, 'policy_sets', { most, sizesOf, refuse });

  return {
    async createIndexes(): Promise<void> {
      await sets.createIndexes([
        { key: { audiences: 1, ...NEWEST } },
        { key: { organization_id: 1, tag_slugs: 1 } },
        { key: { organization_id: 1, deleted_at: 1 } },
      ]);
    },

    /** Stores a set, unless one with this id exists. Throws 409 if its organization keeps too much. */
    async insert(set: PolicySetRecord): Promise<void> {
      const sizes = { before: null, after: bytesOf(set) };
      await writeWithin(set.organization_id, sizes, () => insertOnce(sets, withDerived(set)));
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

    /**
     * Replaces a set if it has not changed since it was read; null: it has. Throws 409 if its organization keeps too
     * much.
     */
    async change(set: PolicySetRecord, change: Partial<PolicySetRecord>): Promise<PolicySetRecord | null> {
      const { _id, organization_id, version } = set;
      const changed = { ...set, ...change };
      const { _id: _, ...next } = withDerived({ ...changed, version: version + 1 });
      const sizes = { before: bytesOf(set), after: changed.deleted_at === null ? bytesOf(changed) : null };
      let written: PolicySetRecord | null = null;
      const write = async () => {
        const key = { _id, organization_id, version };
        written = await sets.findOneAndUpdate(key, { $set: next }, { returnDocument: 'after' });
        return written !== null;
      };
      await (sizes.before === sizes.after ? write() : writeWithin(organization_id, sizes, write));
      return written;
    },

    async remove(set: PolicySetRecord): Promise<boolean> {
      const { _id, organization_id, version } = set;
      let isRemoved = false;
      await writeWithin(organization_id, { before: bytesOf(set), after: null }, async () => {
        isRemoved = (await sets.deleteOne({ _id, organization_id, version })).deletedCount === 1;
        return isRemoved;
      });
      return isRemoved;
    },

    /**
     * The names of sets by id, for the alerts of an organization: own ones, and the approved copies of others; deleted
     * ones are missing.
     */
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

/** The size of what a client sets. The approved copy is not counted: only the operator can make one. */
const bytesOf = ({ name, description, entries }: PolicySetRecord): number =>
  Buffer.byteLength(JSON.stringify([name, description, entries]));
