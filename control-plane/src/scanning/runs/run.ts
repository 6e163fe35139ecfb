import { derivedId } from '@adsweep/shared/ids.ts';
import type { RunCounts } from '../../scan/run-counts.ts';
import type { ScanSettings } from '../scans/request/scan-in.ts';

/** What makes a run; `api`: the scans that were posted with a campaign on one day. */
export const RUN_TRIGGERS = ['api', 'manual', 'group', 'schedule'] as const;
export type RunTrigger = (typeof RUN_TRIGGERS)[number];

/** A run of a campaign: scans that belong together. */
export type RunRecord = {
  _id: string;
  organization_id: string;
  campaign_id: string;
  /** For people. */
  label: string;
  trigger: RunTrigger;
  /** null: it was not cancelled. No scan joins a cancelled run. */
  cancelled_at: Date | null;
  created_at: Date;
  /** The scans that it creates; absent: only posted scans join it. */
  plan?: RunPlan;
  /** Set while scans of its plan are still to be created. */
  creation?: RunCreation;
  /** When the next step of its creation is due: at once, or later while a process does one. */
  creation_due_at?: Date;
};

/** A scan, or a group of repeats, in each country on each device: `scans` in all. */
export type RunPlan = { countries: string[]; emulators: string[]; repeats: number; scans: number };

/** How the scans of a plan are created. `next`: the first group of the plan that has not been created. */
export type RunCreation = { settings: ScanSettings; price_micros: number; reservation_id: string; next: number };

/** A run whose scans are still to be created. */
export type RunInCreation = RunRecord & { creation: RunCreation };

/**
 * The run of the scans that are posted with a campaign on the UTC day of `now`. `number`: how many such runs of that
 * day were cancelled.
 */
export function apiRun(organization_id: string, campaign_id: string, number: number, now: Date): RunRecord {
  const day = now.toISOString().slice(0, 10);
  return {
    _id: derivedId(`api-run/${organization_id}/${campaign_id}/${day}`, number),
    organization_id,
    campaign_id,
    label: `API ${day}${number === 0 ? '' : ` (${number + 1})`}`,
    trigger: 'api',
    cancelled_at: null,
    created_at: now,
  };
}

const LABELS: Record<Exclude<RunTrigger, 'api'>, string> = { manual: 'Manual', group: 'Group', schedule: 'Schedule' };

/** The label of a run that was made at a time. */
export const labelOf = (trigger: Exclude<RunTrigger, 'api'>, now: Date): string =>
  `${LABELS[trigger]} ${now.toISOString().slice(0, 16).replace('T', ' ')}`;

/**
 * The counters of a run as clients see them: planned scans count from the beginning, and as cancelled if the run was
 * cancelled before.
 */
export function countersOf({ plan, cancelled_at }: RunRecord, { total, unplanned, ...ended }: RunCounts) {
  if (!plan) return { total, ...ended };
  const missing = cancelled_at ? Math.max(0, plan.scans - (total - unplanned)) : 0;
  return { total: plan.scans + unplanned, ...ended, cancelled: ended.cancelled + missing };
}
