import { dueByOrganization, dueIndexes } from '../../platform/due-by-organization.ts';
import { pickingInTurns } from '../../platform/pick-in-turns.ts';
import type { Collection, Filter } from '../../platform/store.ts';
import type { ScheduleProblem } from '../schedules/schedule.ts';
import type { CampaignRecord } from './campaign.ts';

/** A firing of a campaign's schedule that one process carries out. */
export type Firing = { campaign: CampaignRecord; moment: Date };

export const FIRING_INDEXES = [
  ...dueIndexes('next_run_at', 'firing_due_at'),
  { key: { firing_due_at: 1 as const }, sparse: true },
];

export const NO_NEXT_RUN = { next_run_at: '' } as const;

/** What the next moment of a schedule depends on. */
export const PLANNED = {
  schedule_type: 1,
  schedule_weekly: 1,
  schedule_interval_seconds: 1,
  schedule_timezone: 1,
  schedule_enabled: 1,
  schedule_anchor: 1,
} as const;
export type Planned = Pick<CampaignRecord, '_id' | keyof typeof PLANNED>;
/** What a due campaign is fired by. */
type DueCampaign = Planned & Pick<CampaignRecord, 'organization_id' | 'next_run_at'>;

/** The firing of campaigns' schedules, each by one process at a time. */
export function firings(campaigns: Collection<CampaignRecord>) {
  const pickDue = pickingInTurns();

  return {
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

    /**
     * Begins the firing of a due schedule, which is due again at `next`; null: another process did, or the schedule was
     * changed.
     */
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
  };
}
