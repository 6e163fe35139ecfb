import { ApiError } from '../../http/api-error.ts';
import { type Amount, boundedSums } from '../../platform/bounded-sums.ts';
import { FOUND_AT_ONCE, inPortions, updateInPortions } from '../../platform/in-portions.ts';
import { insertOnce } from '../../platform/insert-once.ts';
import { type Collection, containing, type Filter, type Store } from '../../platform/store.ts';
import { nextRunOf, type Replanned } from '../schedules/schedule.ts';
import type { AlertRouting } from './alert-routing.ts';
import { BOUND_INDEX, boundCampaigns } from './bound-campaign-store.ts';
import { type CampaignRecord, type CampaignSettings, TARGET_FIELD } from './campaign.ts';
import { campaignTexts } from './campaign-texts.ts';
import { FIRING_INDEXES, firings, NO_NEXT_RUN, PLANNED, type Planned } from './firing-store.ts';

/** The only code that accesses campaigns. Queries filter by organization first. */
export type CampaignStore = ReturnType<typeof campaignStore>;

/** Conditions of a list of campaigns. `name`: a part of the name, any letter case. */
export type CampaignFilter = {
  is_archived: boolean;
  group_id?: string;
  name?: string;
  created: { $gte?: Date; $lt?: Date } | null;
  last_run: { $gte?: Date; $lt?: Date } | null;
};

/** Of one organization, archived campaigns included. `bytes`: of their settings and targets as JSON. */
const MOST: Amount = { records: 20_000, bytes: 256 * 1024 * 1024 };

const NEWEST = { created_at: -1, _id: -1 } as const;

export function campaignStore(store: Store, most = MOST) {
  const campaigns: Collection<CampaignRecord> = store.collection<CampaignRecord>('campaigns');
  const texts = campaignTexts(store);

  /** Writes a campaign with its size, and its target. */
  const writeCampaign = (campaign: CampaignRecord, write: (stored: CampaignRecord) => Promise<boolean>) =>
    texts.writeWith({ ...campaign, bytes: bytesOf(campaign) }, write);

  const find = (organization_id: string, _id: string): Promise<CampaignRecord | null> =>
    campaigns.findOne({ _id, organization_id });

  const withTarget = async (campaign: CampaignRecord): Promise<CampaignRecord> => {
    const whole = await texts.withText(campaign);
    if (whole) return whole;
    const changed = await find(campaign.organization_id, campaign._id);
    if (!changed || changed.target_text_id === campaign.target_text_id)
      throw new Error(`the target of the campaign ${campaign._id} is missing`);
    return withTarget(changed);
  };

  /** The stored size of a campaign; one of an earlier version has none. */
  const sizeOf = async (campaign: CampaignRecord): Promise<number> =>
    campaign.bytes ?? bytesOf(await withTarget(campaign));

  async function* sizesOf(organization_id: string) {
    for await (const campaign of campaigns.find({ organization_id })) yield sizeOf(campaign);
  }
  const refuse = () =>
    new ApiError(
      'campaigns.too_many',
      `There can be at most ${most.records} campaigns, whose settings and targets have at most ${most.bytes} bytes together.`,
    );
  const writeWithin = boundedSums(store, 'campaigns', { most, sizesOf, refuse });

  return {
    async createIndexes(): Promise<void> {
      await campaigns.createIndexes([
        // Includes the name: a search for a part of it reads only campaigns that may have it.
        { key: { organization_id: 1, is_archived: 1, ...NEWEST, name: 1 }, countedPrefix: 2, partsOf: 'name' },
        { key: { organization_id: 1, group_id: 1, is_archived: 1, ...NEWEST }, countedPrefix: 3 },
        { key: { organization_id: 1, is_archived: 1, last_run_at: -1 }, countedPrefix: 2 },
        { key: { organization_id: 1, group_id: 1, last_run_at: -1 }, countedPrefix: 1 },
        ...FIRING_INDEXES,
        BOUND_INDEX,
      ]);
    },

    ...boundCampaigns(campaigns),
    ...firings(campaigns),

    /** Stores a campaign, unless one with this id exists. Throws 409 if its organization keeps too much. */
    async insertWithin(campaign: CampaignRecord): Promise<void> {
      if (await find(campaign.organization_id, campaign._id)) return;
      await writeWithin(campaign.organization_id, { before: null, after: bytesOf(campaign) }, () =>
        writeCampaign(campaign, (stored) => insertOnce(campaigns, stored)),
      );
    },

    /** A campaign of this organization; null: missing, or another organization's. A long target is not read. */
    find,

    /** The campaign with its complete target; as it is now, if a change has replaced a long one since it was read. */
    withTarget,

    /**
     * Replaces the settings of a campaign, its schedule unless `plan` is null, and its alert routing if there is one,
     * if it was neither changed since it was read nor archived; null: it was. Throws 409 if its organization keeps too
     * much.
     */
    async change(
      campaign: CampaignRecord,
      settings: CampaignSettings,
      plan: Replanned | null,
      notifications?: AlertRouting,
    ): Promise<CampaignRecord | null> {
      const { _id, organization_id, version, target_text_id: before } = campaign;
      const next = { ...campaign, ...settings };
      const sizes = { before: await sizeOf(campaign), after: bytesOf(next) };
      let changed: CampaignRecord | null = null;
      const replace = async ({ target_text_id: after, bytes, ...stored }: CampaignRecord): Promise<boolean> => {
        const field = TARGET_FIELD[campaign.campaign_type];
        const set = {
          ...settings,
          [field]: stored[field],
          bytes,
          version: version + 1,
          ...(notifications && { notifications }),
          ...(after !== undefined && { target_text_id: after }),
          ...(plan && { schedule_anchor: plan.schedule_anchor, last_schedule_problem: null }),
          ...(plan?.next_run_at && { next_run_at: plan.next_run_at }),
        };
        const unset = {
          ...(after === undefined && { target_text_id: '' as const }),
          ...(plan && !plan.next_run_at && { next_run_at: '' as const }),
        };
        const update = { $set: set, ...(Object.keys(unset).length > 0 && { $unset: unset }) } as object;
        const key = { _id, organization_id, version, is_archived: false };
        changed = await campaigns.findOneAndUpdate(key, update, { returnDocument: 'after' });
        return changed !== null;
      };
      await writeWithin(organization_id, sizes, () => writeCampaign(next, replace));
      if (changed && before !== undefined) await texts.remove(organization_id, before);
      return changed;
    },

    /** Replaces the alert routing of a campaign; false: it does not exist. */
    async setRouting(organization_id: string, _id: string, notifications: AlertRouting): Promise<boolean> {
      return (await campaigns.updateOne({ _id, organization_id }, { $set: { notifications } })).matchedCount === 1;
    },

    /** Archives or restores one campaign by itself; null: it does not exist. */
    async setArchived(
      organization_id: string,
      _id: string,
      is_archived: boolean,
      now: Date,
    ): Promise<CampaignRecord | null> {
      const campaign = await find(organization_id, _id);
      // One that its group took along and is archived by itself as well stays archived when its group is restored.
      const key = { _id, organization_id, ...(!is_archived && { is_archived: true }) };
      if (campaign) await campaigns.updateOne(key, archiving(campaign, is_archived, now));
      return find(organization_id, _id);
    },

    /** Archives the campaigns of a group, or restores those that were archived with it. Returns how many. */
    async setArchivedWithGroup(organization_id: string, group_id: string, is_archived: boolean): Promise<number> {
      if (is_archived) {
        const update = { $set: { is_archived, archived_with_group: true }, $unset: { next_run_at: '' as const } };
        return updateInPortions(campaigns, { organization_id, group_id, is_archived: false }, update);
      }
      const taken: Filter<CampaignRecord> = { organization_id, group_id, is_archived: true, archived_with_group: true };
      let restored = 0;
      for (const campaign of await campaigns
        .find({ ...taken, schedule_enabled: true })
        .project<Planned>(PLANNED)
        .toArray()) {
        const update = archiving(campaign, false, new Date());
        restored += (await campaigns.updateOne({ ...taken, _id: campaign._id }, update)).modifiedCount;
      }
      const set = { $set: { is_archived, archived_with_group: false } };
      return restored + (await updateInPortions(campaigns, { ...taken, schedule_enabled: { $ne: true } }, set));
    },

    /** Notes the creation of a run. */
    async noteRun(organization_id: string, _id: string, at: Date): Promise<void> {
      await campaigns.updateOne({ _id, organization_id }, { $max: { last_run_at: at } });
    },

    /** A page of the organization's matching campaigns, newest first, and their number. */
    async list(organization_id: string, filter: CampaignFilter, { skip, limit }: { skip: number; limit: number }) {
      const where = filterOf(organization_id, filter);
      const rows = await campaigns.find(where).sort(NEWEST).skip(skip).limit(limit).toArray();
      return { rows, total: await campaigns.countDocuments(where) };
    },

    /** Name and group of the campaigns with these ids. */
    async namesOf(organization_id: string, ids: string[]) {
      const found = await inPortions(ids, FOUND_AT_ONCE, (portion) =>
        campaigns
          .find({ organization_id, _id: { $in: portion } })
          .project<Pick<CampaignRecord, '_id' | 'name' | 'group_id'>>({ name: 1, group_id: 1 })
          .toArray(),
      );
      return found.flat();
    },

    /** The ids of all campaigns of a group. */
    async idsInGroup(organization_id: string, group_id: string): Promise<string[]> {
      const rows = campaigns.find({ organization_id, group_id }).project<Pick<CampaignRecord, '_id'>>({ _id: 1 });
      return (await rows.toArray()).map(({ _id }) => _id);
    },

    /** The campaigns of a group that are not archived, and when one of its campaigns, archived or not, last ran. */
    async summaryOfGroup(organization_id: string, group_id: string) {
      const newest = campaigns
        .find({ organization_id, group_id })
        .sort({ last_run_at: -1 })
        .limit(1)
        .project<Pick<CampaignRecord, 'last_run_at'>>({ last_run_at: 1 });
      const [campaign_count, [latest]] = await Promise.all([
        campaigns.countDocuments({ organization_id, group_id, is_archived: false }),
        newest.toArray(),
      ]);
      return { campaign_count, last_run_at: latest?.last_run_at ?? null };
    },
  };
}

/** The size of what a client sets, as JSON. */
function bytesOf(campaign: CampaignRecord): number {
  const texts = [campaign.name, campaign.url, campaign.ad_tag, campaign.vast_tag, campaign.referrer];
  const lists = [campaign.country_codes, campaign.emulator_specific_ids, campaign.schedule_weekly, campaign.labels];
  return Buffer.byteLength(JSON.stringify([texts, lists]));
}

/** The update that archives a campaign, whose schedule then has no next moment, or restores it. */
function archiving(campaign: Planned, is_archived: boolean, now: Date) {
  const set = { is_archived, archived_with_group: false };
  const next_run_at = is_archived ? null : nextRunOf(campaign, now);
  return next_run_at ? { $set: { ...set, next_run_at } } : { $set: set, $unset: NO_NEXT_RUN };
}

function filterOf(organization_id: string, { name, group_id, is_archived, created, last_run }: CampaignFilter) {
  const filter: Filter<CampaignRecord> = { organization_id, is_archived };
  if (group_id !== undefined) filter.group_id = group_id;
  if (name !== undefined) filter.name = containing(name);
  if (created) filter.created_at = created;
  if (last_run) filter.last_run_at = last_run;
  return filter;
}
