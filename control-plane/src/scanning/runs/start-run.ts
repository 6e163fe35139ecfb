import { derivedId } from '@adsweep/shared/ids.ts';
import { monthOf } from '../../accounts/billing/ledger-entry.ts';
import type { WantedForRun } from '../../accounts/billing/reserve-checks.ts';
import type { StoredPerDay } from '../../accounts/stored-per-day.ts';
import { dueAtOnce } from '../../platform/due-by-organization.ts';
import type { CampaignRecord } from '../campaigns/campaign.ts';
import type { CampaignStore } from '../campaigns/campaign-store.ts';
import { planRun, settingsOfRun } from './plan-run.ts';
import { labelOf, type RunInCreation, type RunRecord, type RunTrigger } from './run.ts';
import type { RunStore } from './run-store.ts';

export type StartRunParts = {
  runs: Pick<RunStore, 'find' | 'insert'>;
  campaigns: Pick<CampaignStore, 'withTarget' | 'noteRun'>;
  /** The price of a check for the organization, in micros; throws 403 if it is not active. */
  priceOfCheck: (organizationId: string) => Promise<number>;
  /** Reserves all checks of a run, once for the same id; throws 403 if the organization may not make them. */
  reserveRun: (organizationId: string, wanted: WantedForRun) => Promise<void>;
  /** Returns the checks that are left of a run's reservation. */
  releaseRun: (organizationId: string, reservationId: string) => Promise<void>;
  /** Takes of what the organization may store in a day; throws 429 if it is used up. */
  storedPerDay: Pick<StoredPerDay, 'storing'>;
  /** Called when scans of a run are to be created. */
  runAccepted: () => void;
};

/** Which run is started, by what, and when. Repeated starts with one id create one run. */
export type RunStart = { id: string; trigger: Exclude<RunTrigger, 'api'>; now: Date };

export type StartRun = (campaign: CampaignRecord, start: RunStart) => Promise<RunRecord>;

/**
 * Accepts a run of a campaign that is not archived: reserves the checks of all its scans and stores it. Its scans are
 * created later, by `create-scans-of-runs.ts`. Throws 403 `billing.*` or 429 `storage.quota_exhausted`; then there is
 * no run.
 */
export const startRun =
  (parts: StartRunParts): StartRun =>
  async (campaign, { id, trigger, now }) => {
    const { runs, campaigns } = parts;
    const { _id: campaign_id, organization_id } = campaign;
    const earlier = await runs.find(organization_id, id);
    if (earlier) return earlier;
    const price_micros = await parts.priceOfCheck(organization_id);
    const whole = await campaigns.withTarget(campaign);
    const plan = planRun(whole, id);
    // One in each month: a start that is repeated in the next month counts its checks there, as its scans say.
    const reservation_id = derivedId(`${id}/plan/${plan.scans}/${price_micros}/${monthOf(now)}`, 0);
    const settings = settingsOfRun(whole, id, plan);
    const wanted = { runId: id, id: reservation_id, checks: plan.scans, priceMicros: price_micros, now };
    await parts.storedPerDay.storing(organization_id, 'targets', targetBytes(settings), () =>
      parts.reserveRun(organization_id, wanted),
    );
    const run: RunInCreation = {
      _id: id,
      organization_id,
      campaign_id,
      label: labelOf(trigger, now),
      trigger,
      cancelled_at: null,
      created_at: now,
      plan,
      creation_due_at: dueAtOnce(now),
      creation: { settings, price_micros, reservation_id, next: 0 },
    };
    if (!(await runs.insert(run))) return keepEarlier(parts, run);
    await campaigns.noteRun(organization_id, campaign_id, now);
    parts.runAccepted();
    return run;
  };

/** The size of a target whose text is stored once for all scans of a run. */
const targetBytes = ({ ad_tag, vast_tag }: RunInCreation['creation']['settings']): number =>
  Buffer.byteLength(ad_tag ?? vast_tag ?? '');

/** The run that was stored first; the reservation of the other is released if it is another one. */
async function keepEarlier({ runs, releaseRun }: StartRunParts, run: RunInCreation): Promise<RunRecord> {
  const { _id, organization_id, creation } = run;
  const earlier = await runs.find(organization_id, _id);
  if (!earlier) throw new Error('a run of another organization has the id of a new one');
  if (earlier.creation?.reservation_id !== creation.reservation_id)
    await releaseRun(organization_id, creation.reservation_id);
  return earlier;
}
