import { ApiError } from '../../http/api-error.ts';
import { boundedNumber } from '../../platform/bounded-writes.ts';
import { insertOnce } from '../../platform/insert-once.ts';
import type { Collection, Filter, Store } from '../../platform/store.ts';
import { defaultGroup, defaultGroupId, type GroupRecord } from './group.ts';

/** The only code that accesses groups of campaigns. Queries filter by organization first. */
export type GroupStore = ReturnType<typeof groupStore>;

/** Conditions of a list of groups. */
export type GroupFilter = { is_archived: boolean; created: { $gte?: Date; $lt?: Date } | null };

/** Groups of one organization: the list has no pages. */
const GROUPS_MAX = 1_000;

const NEWEST = { created_at: -1, _id: -1 } as const;

export function groupStore(store: Store) {
  const groups: Collection<GroupRecord> = store.collection<GroupRecord>('campaign_groups');

  const writeWithin = boundedNumber(store, 'campaign_groups', {
    records: groups,
    most: GROUPS_MAX,
    refuse: () => new ApiError('campaign_groups.too_many', `There can be at most ${GROUPS_MAX} campaign groups.`),
  });

  const find = (organization_id: string, _id: string): Promise<GroupRecord | null> =>
    groups.findOne({ _id, organization_id });

  /** Stores the organization's default group, unless it exists: organizations of earlier versions have none. */
  const ensureDefault = async (organizationId: string): Promise<void> => {
    if (await find(organizationId, defaultGroupId(organizationId))) return;
    await insertOnce(groups, defaultGroup(organizationId, new Date()));
  };

  return {
    async createIndexes(): Promise<void> {
      await groups.createIndexes([
        { key: { organization_id: 1, created_at: -1, _id: -1 }, countedPrefix: 1 },
        { key: { organization_id: 1, is_archived: 1, created_at: -1, _id: -1 } },
      ]);
    },

    /** Stores a group, unless one with this id exists. Throws 409 if its organization has too many. */
    async insertWithin(group: GroupRecord): Promise<void> {
      await writeWithin(group.organization_id, group._id, () => insertOnce(groups, group));
    },

    /** A group of this organization; null: missing, or another organization's. */
    async find(organizationId: string, id: string): Promise<GroupRecord | null> {
      if (id === defaultGroupId(organizationId)) await ensureDefault(organizationId);
      return find(organizationId, id);
    },

    /** Those of the groups with these ids that the organization has. */
    async findAll(organization_id: string, ids: string[]): Promise<GroupRecord[]> {
      return groups.find({ organization_id, _id: { $in: ids } }).toArray();
    },

    /** The organization's matching groups, newest first. */
    async list(organization_id: string, { is_archived, created }: GroupFilter): Promise<GroupRecord[]> {
      await ensureDefault(organization_id);
      const filter: Filter<GroupRecord> = { organization_id, is_archived, ...(created && { created_at: created }) };
      return groups.find(filter).sort(NEWEST).toArray();
    },

    /** Changes a group and returns the new record; null: it does not exist. */
    async change(
      organizationId: string,
      id: string,
      set: Partial<Pick<GroupRecord, 'name' | 'is_archived' | 'schedule_paused'>>,
    ): Promise<GroupRecord | null> {
      if (id === defaultGroupId(organizationId)) await ensureDefault(organizationId);
      const key = { _id: id, organization_id: organizationId };
      if (Object.keys(set).length === 0) return groups.findOne(key);
      return groups.findOneAndUpdate(key, { $set: set }, { returnDocument: 'after' });
    },
  };
}
