import { nextMoment, type SchedulePlan } from './next-moment.ts';

export const SCHEDULE_TYPES = ['weekly', 'interval'] as const;

/** The intervals that can be chosen, in seconds: a minute to a day. */
export const INTERVALS = [60, 120, 300, 600, 900, 1_800, 2_700, 3_600, 7_200, 14_400, 28_800, 86_400] as const;

/** What a client sets of a schedule, with the names of the API. */
export type ScheduleSettings = {
  /** null: the campaign has no schedule; the fields of the other type are null. */
  schedule_type: (typeof SCHEDULE_TYPES)[number] | null;
  /** Hours by day, `0` (Monday) to `6`. */
  schedule_weekly: Record<string, number[]> | null;
  schedule_interval_seconds: (typeof INTERVALS)[number] | null;
  /** null: UTC. */
  schedule_timezone: string | null;
  schedule_enabled: boolean;
};

/** Why the last firing started no run; `code` is one of the API, or `overlap`. */
export type ScheduleProblem = { code: string; detail: string; at: Date };

/** What a campaign has of its schedule, beside the settings. */
export type ScheduleState = {
  /** When the schedule was enabled or its plan was changed: an interval counts from then. */
  schedule_anchor: Date | null;
  /** When it fires next; absent: never, because there is no enabled schedule or the campaign is archived. */
  next_run_at?: Date;
  /** The moment of a firing that is being carried out, and when another process takes it over. */
  firing_moment?: Date;
  firing_due_at?: Date;
  last_scheduled_run_id: string | null;
  /** null: the last firing started a run, or there was none. */
  last_schedule_problem: ScheduleProblem | null;
};

export const NO_SCHEDULE: Readonly<ScheduleSettings> = {
  schedule_type: null,
  schedule_weekly: null,
  schedule_interval_seconds: null,
  schedule_timezone: null,
  schedule_enabled: false,
};
export const SCHEDULE_FIELDS = Object.keys(NO_SCHEDULE) as (keyof ScheduleSettings)[];

/** The plan by which a campaign runs; null: it does not run by itself. */
function planOf(campaign: ScheduleSettings & Pick<ScheduleState, 'schedule_anchor'>): SchedulePlan | null {
  const { schedule_type, schedule_weekly, schedule_interval_seconds, schedule_timezone, schedule_enabled } = campaign;
  if (!schedule_enabled) return null;
  if (schedule_type === 'weekly' && schedule_weekly)
    return { type: 'weekly', weekly: schedule_weekly, timezone: schedule_timezone ?? 'UTC' };
  if (schedule_type === 'interval' && schedule_interval_seconds && campaign.schedule_anchor)
    return { type: 'interval', seconds: schedule_interval_seconds, anchor: campaign.schedule_anchor };
  return null;
}

/** When a campaign runs next after `after`; null: never. */
export function nextRunOf(
  campaign: ScheduleSettings & Pick<ScheduleState, 'schedule_anchor'>,
  after: Date,
): Date | null {
  const plan = planOf(campaign);
  return plan && nextMoment(plan, after);
}

/** What a change of a schedule leads to. */
export type Replanned = { schedule_anchor: Date | null; next_run_at: Date | null };

/** The anchor and the next run of a schedule that was set or changed at `now`; null: its plan is as before. */
export function replanned(before: ScheduleSettings, settings: ScheduleSettings, now: Date): Replanned | null {
  if (partsOf(before) === partsOf(settings)) return null;
  const schedule_anchor = settings.schedule_enabled ? now : null;
  return { schedule_anchor, next_run_at: nextRunOf({ ...settings, schedule_anchor }, now) };
}

/** What of a schedule determines its moments. */
function partsOf(settings: ScheduleSettings): string {
  const { schedule_type, schedule_weekly, schedule_interval_seconds, schedule_timezone, schedule_enabled } = settings;
  const days = Object.entries(schedule_weekly ?? {}).toSorted();
  const weekly = schedule_type === 'weekly' ? [days, schedule_timezone ?? 'UTC'] : [];
  return JSON.stringify([schedule_enabled, schedule_type, schedule_interval_seconds, weekly]);
}
