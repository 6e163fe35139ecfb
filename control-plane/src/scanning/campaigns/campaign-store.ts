import { newId } from '@adsweep/shared/ids.ts';
import { ApiError } from '../../http/api-error.ts';
import { type Amount, boundedSums } from '../../platform/bounded-sums.ts';
import { dueByOrganization, dueIndexes } from '../../platform/due-by-organization.ts';
import { FOUND_AT_ONCE, inPortions, updateInPortions } from '../../platform/in-portions.ts';
import { insertOnce } from '../../platform/insert-once.ts';
import { pickingInTurns } from '../../platform/pick-in-turns.ts';
import { type Collection, containing, type Filter, type Store } from '../../platform/store.ts';
import { nextRunOf, type Replanned, type ScheduleProblem } from '../schedules/schedule.ts';
import type { AlertRouting } from './alert-routing.ts';
import { BOUND_INDEX, boundCampaigns } from './bound-campaign-store.ts';
import { type CampaignRecord, type CampaignSettings, TARGET_FIELD } from './campaign.ts';

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

/** A firing of a campaign's schedule that one process carries out. */
export type Firing = { campaign: CampaignRecord; moment: Date };

/** Of one organization, archived campaigns included. `bytes`: of their settings and targets as JSON. */
const MOST: Amount = { records: 20_000, bytes: 256 * 1024 * 1024 };

type TargetText = { _id: string; organization_id: string; text: string };

/** Longer targets are stored separately, so that lists do not read them. */
const OWN_TEXT_MAX = 4_096;
const NEWEST = { created_at: -1, _id: -1 } as const;

export function campaignStore(store: Store, most = MOST) {
  const campaigns: Collection<CampaignRecord> = store.collection<CampaignRecord>('campaigns');
  const texts: Collection<TargetText> = store.collection<TargetText>('campaign_targets');

  /**
   * Writes a campaign whose target, if it is long, is stored before it under an id of its own: a change never alters a text in use. `write`
   * gets the campaign as it is stored and resolves to whether it wrote it; if not, its text is removed again.
   */
  const writeCampaign = async (
    campaign: CampaignRecord,
    write: (stored: CampaignRecord) => Promise<boolean>,
  ): Promise<boolean> => {
    const { target_text_id: _, ...whole } = { ...campaign, bytes: bytesOf(campaign) };
    const field = TARGET_FIELD[campaign.campaign_type];
    const text = campaign[field] ?? '';
    if (text.length <= OWN_TEXT_MAX) return write(whole);
    const { organization_id } = campaign;
    const target_text_id = newId();
    await texts.insertOne({ _id: target_text_id, organization_id, text });
    const isWritten = await write({ ...whole, [field]: '', target_text_id });
    if (!isWritten) await texts.deleteOne({ _id: target_text_id, organization_id });
    return isWritten;
  };

  const find = (organization_id: string, _id: string): Promise<CampaignRecord | null> =>
    campaigns.findOne({ _id, organization_id });

  const withTarget = async (campaign: CampaignRecord): Promise<CampaignRecord> => {
    const { _id, target_text_id, organization_id, campaign_type } = campaign;
    if (target_text_id === undefined) return campaign;
    const found = await texts.findOne({ _id: target_text_id, organization_id });
    if (found) return { ...campaign, [TARGET_FIELD[campaign_type]]: found.text };
    const changed = await find(organization_id, _id);
    if (!changed || changed.target_text_id === target_text_id)
      throw new Error(`the target of the campaign ${_id} is missing`);
    return withTarget(changed);
  };

  /** The stored size of a campaign; one of an earlier version has none. */
  const sizeOf = async (campaign: CampaignRecord): Promise<number> =>
    campaign.bytes ?? bytesOf(await withTarget(campaign));

  const sumOf = async (organization_id: string): Promise<Amount> => {
    const sum = { records: 0, bytes: 0 };
    for await (const campaign of campaigns.find({ organization_id })) {
      sum.records += 1;
      sum.bytes += await sizeOf(campaign);
    }
    return sum;
  };
  const refuse = () =>
    new ApiError(
      'campaigns.too_many',
      `There can be at most ${most.records} campaigns, whose settings and targets have at most ${most.bytes} bytes together.`,
    );
  const pickDue = pickingInTurns();
  const writeWithin = boundedSums(store, 'campaigns', { most, sumOf, refuse });

  return {
    async createIndexes(): Promise<void> {
      await campaigns.createIndexes([
        // Includes the name: a search for a part of it reads only campaigns that may have it.
        { key: { organization_id: 1, is_archived: 1, ...NEWEST, name: 1 }, countedPrefix: 2, partsOf: 'name' },
        { key: { organization_id: 1, group_id: 1, is_archived: 1, ...NEWEST }, countedPrefix: 3 },
        { key: { organization_id: 1, is_archived: 1, last_run_at: -1 }, countedPrefix: 2 },
        { key: { organization_id: 1, group_id: 1, last_run_at: -1 }, countedPrefix: 1 },
        ...dueIndexes('next_run_at', 'firing_due_at'),
        { key: { firing_due_at: 1 }, sparse: true },
        BOUND_INDEX,
      ]);
    },

    ...boundCampaigns(campaigns),

    /** Stores a campaign, unless one with this id exists. Throws 409 if its organization keeps too much. */
    async insertWithin(campaign: CampaignRecord): Promise<void> {
      const change = { records: 1, bytes: bytesOf(campaign) };
      if (await find(campaign.organization_id, campaign._id)) return;
      await writeWithin(campaign.organization_id, change, () =>
        writeCampaign(campaign, (stored) => insertOnce(campaigns, stored)),
      );
    },

    /** A campaign of this organization; null: missing, or another organization's. A long target is not read. */
    find,

    /** The campaign with its complete target; as it is now, if a change has replaced a long one since it was read. */
    withTarget,

    /**
     * Replaces the settings of a campaign, its schedule unless `plan` is null, and its alert routing if there is one, if it was neither changed
     * since it was read nor archived; null: it was. Throws 409 if its organization keeps too much.
     */
    async change(
      campaign: CampaignRecord,
      settings: CampaignSettings,
      plan: Replanned | null,
      notifications?: AlertRouting,
    ): Promise<CampaignRecord | null> {
      const { _id, organization_id, version, target_text_id: before } = campaign;
      const next = { ...campaign, ...settings };
      const growth = { records: 0, bytes: bytesOf(next) - (await sizeOf(campaign)) };
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
      await writeWithin(organization_id, growth, () => writeCampaign(next, replace));
      if (changed && before !== undefined) await texts.deleteOne({ _id: before, organization_id });
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

    /** Campaigns whose schedules are due and are not being fired, one of each organization in turn. */
    async dueSchedules(now: Date, limit: number): Promise<DueCampaign[]> {
      // Absent: unlike `$exists`, this is a value by which an index finds them.
      const where = { firing_due_at: null } as object;
      return pickDue(
        dueByOrganization<CampaignRecord, DueCampaign>(campaigns, 'next_run_at', now, { where, shown: PLANNED }),
        limit,
      );
    },

    /** Campaigns whose firing another process began and did not end in time. */
    async interruptedFirings(now: Date, limit: number): Promise<CampaignRecord[]> {
      return campaigns
        .find({ firing_due_at: { $lte: now } })
        .sort({ firing_due_at: 1 })
        .limit(limit)
        .toArray();
    },

    /** Begins the firing of a due schedule, which is due again at `next`; null: another process did, or the schedule was changed. */
    async beginFiring(campaign: DueCampaign, next: Date | null, until: Date): Promise<Firing | null> {
      const { _id, organization_id, next_run_at: moment } = campaign;
      if (!moment) return null;
      const filter: Filter<CampaignRecord> = {
        _id,
        organization_id,
        next_run_at: moment,
        firing_due_at: { $exists: false },
      };
      const firing = { firing_moment: moment, firing_due_at: until };
      const update = next ? { $set: { ...firing, next_run_at: next } } : { $set: firing, $unset: NO_NEXT_RUN };
      const begun = await campaigns.findOneAndUpdate(filter, update, { returnDocument: 'after' });
      return begun && { campaign: begun, moment };
    },

    /** Takes over a firing that was interrupted; null: another process did. */
    async repeatFiring({ _id, organization_id, firing_due_at }: CampaignRecord, until: Date): Promise<Firing | null> {
      if (!firing_due_at) return null;
      const update = { $set: { firing_due_at: until } };
      const key = { _id, organization_id, firing_due_at };
      const campaign = await campaigns.findOneAndUpdate(key, update, { returnDocument: 'after' });
      return campaign?.firing_moment ? { campaign, moment: campaign.firing_moment } : null;
    },

    /** Ends a firing. `problem` undefined: the last one stays. */
    async endFiring(
      { campaign: { _id, organization_id }, moment }: Firing,
      { problem, runId }: { problem: ScheduleProblem | null | undefined; runId: string | undefined },
    ): Promise<void> {
      const set = {
        ...(problem !== undefined && { last_schedule_problem: problem }),
        ...(runId !== undefined && { last_scheduled_run_id: runId }),
      };
      const ended = { $unset: { firing_moment: '' as const, firing_due_at: '' as const } };
      const update = Object.keys(set).length > 0 ? { ...ended, $set: set } : ended;
      await campaigns.updateOne({ _id, organization_id, firing_moment: moment }, update);
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

const NO_NEXT_RUN = { next_run_at: '' } as const;

/** What the next moment of a schedule depends on. */
const PLANNED = {
  schedule_type: 1,
  schedule_weekly: 1,
  schedule_interval_seconds: 1,
  schedule_timezone: 1,
  schedule_enabled: 1,
  schedule_anchor: 1,
} as const;
type Planned = Pick<CampaignRecord, '_id' | keyof typeof PLANNED>;
/** What a due campaign is fired by. */
type DueCampaign = Planned & Pick<CampaignRecord, 'organization_id' | 'next_run_at'>;

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
