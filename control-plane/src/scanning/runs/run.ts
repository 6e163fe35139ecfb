import { derivedId } from '@adsweep/shared/ids.ts';

/** A run of a campaign: scans that belong together. */
export type RunRecord = {
  _id: string;
  organization_id: string;
  campaign_id: string;
  /** For people. */
  label: string;
  /** What made it; `api`: the scans that were posted with the campaign on one day. */
  trigger: 'api';
  /** null: it was not cancelled. No scan joins a cancelled run. */
  cancelled_at: Date | null;
  created_at: Date;
};

/** The run of the scans that are posted with a campaign on the UTC day of `now`. `number`: how many such runs of that day were cancelled. */
export function apiRun(organization_id: string, campaign_id: string, number: number, now: Date): RunRecord {
  const day = now.toISOString().slice(0, 10);
  return {
    ...{ _id: derivedId(`api-run/${organization_id}/${campaign_id}/${day}`, number), organization_id, campaign_id },
    ...{ label: `API ${day}${number === 0 ? '' : ` (${number + 1})`}`, trigger: 'api', cancelled_at: null },
    created_at: now,
  };
}
