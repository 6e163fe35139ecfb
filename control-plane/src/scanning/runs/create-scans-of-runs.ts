import type { Logger } from '@adsweep/shared/service/logger.ts';
import { ApiError } from '../../http/api-error.ts';
import { type Loop, startLoop } from '../../platform/start-loop.ts';
import type { WakeSignal } from '../../platform/wake-signal.ts';
import { CAMPAIGN_CLASS } from '../../scan/filter-keys.ts';
import type { CampaignStore } from '../campaigns/campaign-store.ts';
import type { ScanCreation } from '../scans/request/create-scans.ts';
import type { RunInCreation } from './run.ts';
import type { RunStore } from './run-store.ts';

export type CreateRunScansParts = {
  runs: Pick<RunStore, 'find' | 'claimDue' | 'advance' | 'cancel' | 'finishCreation'>;
  campaigns: Pick<CampaignStore, 'noteRun'>;
  createChecked: ScanCreation['createChecked'];
  releaseRun: (organizationId: string, reservationId: string) => Promise<void>;
  /** Cancels the pending scans of a run. */
  cancelPending: (organizationId: string, runId: string) => Promise<number>;
  logger: Logger;
};

/**
 * Scans of one step. A step that is repeated after a crash has the same scans, so another number would need another
 * name of the steps.
 */
const STEP_SCANS = 200;
/**
 * Runs whose next steps are made at the same time. They take turns, so that a large run does not hold up the others.
 */
const RUNS_AT_ONCE = 4;
/** After this time another process takes over a step. */
const CLAIM_MS = 20_000;
const RETRY_MS = 2_000;
/** The loop is woken when a run is accepted; this interval covers lost hints, and steps of processes that have died. */
const LOOK_EVERY_MS = 2_000;

/** Creates the scans of accepted runs. Any number of processes may do this at the same time. */
export function startCreatingScansOfRuns(parts: CreateRunScansParts, accepted: WakeSignal): Loop {
  const step = () => createScansOfRuns(parts, new Date());
  return startLoop(parts.logger, { name: 'scans of runs', everyMs: LOOK_EVERY_MS, step, wake: accepted });
}

/** Makes the next step of some due runs; whether there were any. */
export async function createScansOfRuns(parts: CreateRunScansParts, now: Date): Promise<boolean> {
  const claimed = await parts.runs.claimDue(now, new Date(now.getTime() + CLAIM_MS), RUNS_AT_ONCE);
  const steps = claimed.map((run) =>
    takeStep(parts, run, now).catch((cause: unknown) => retryLater(parts, run, now, cause)),
  );
  return (await Promise.all(steps)).some(Boolean);
}

/**
 * One step: creates the next scans, and notes where the following step begins. A step that was interrupted anywhere is
 * repeated from its beginning: the scans have derived ids, and their checks are taken from the run's reservation once.
 */
async function takeStep(parts: CreateRunScansParts, run: RunInCreation, now: Date): Promise<boolean> {
  const { runs, campaigns } = parts;
  const { _id, organization_id, campaign_id, created_at, creation } = run;
  if (creation.next === 0) await campaigns.noteRun(organization_id, campaign_id, created_at);
  if (run.cancelled_at) return endCancelled(parts, run);
  const next = await createNext(parts, run);
  if (next !== null) {
    if (await runs.advance(run, next, now)) return true;
  } else if (await runs.finishCreation(run, { isCancelled: false })) {
    await parts.releaseRun(organization_id, creation.reservation_id);
    return true;
  }
  // It was cancelled, or another process made the same step before.
  const isCancelled = Boolean((await runs.find(organization_id, _id))?.cancelled_at);
  return isCancelled ? endCancelled(parts, run) : true;
}

/** Ends the creation of a cancelled run, and cancels what a step has created since. */
async function endCancelled(parts: CreateRunScansParts, run: RunInCreation): Promise<boolean> {
  const { _id, organization_id, creation } = run;
  await parts.releaseRun(organization_id, creation.reservation_id);
  await parts.cancelPending(organization_id, _id);
  return parts.runs.finishCreation(run, { isCancelled: true });
}

async function createNext({ createChecked }: CreateRunScansParts, run: RunInCreation): Promise<number | null> {
  const { _id, organization_id, created_at, plan, creation } = run;
  const { settings, price_micros, reservation_id, next: from } = creation;
  const { next } = await createChecked(
    {
      settings,
      countries: plan!.countries,
      emulators: plan!.emulators,
      band: CAMPAIGN_CLASS,
      organizationId: organization_id,
      requestId: _id,
      isRepeatable: true,
      accepted: { price_micros, reservation: { id: reservation_id, at: created_at } },
    },
    { from, scans: STEP_SCANS },
  );
  return next;
}

/**
 * Repeats a step after a pause: it fails while the store is full or the catalogue has not been read, or because the run
 * was cancelled. A run that has lost its reservation, because its start took more than ten minutes to store it, can
 * never go on and is cancelled.
 */
async function retryLater(parts: CreateRunScansParts, run: RunInCreation, now: Date, cause: unknown): Promise<boolean> {
  const { runs, logger } = parts;
  const { cancelled_at, creation } = (await runs.find(run.organization_id, run._id)) ?? {};
  if (cancelled_at) return endCancelled(parts, run);
  if (creation && cause instanceof ApiError && cause.code === 'runs.cancelled') {
    logger.error({ run_id: run._id }, 'a run without its reservation is cancelled');
    await runs.cancel(run.organization_id, run._id, now);
    return endCancelled(parts, run);
  }
  logger.info({ run_id: run._id, cause }, 'a step of a run failed and will be repeated');
  await runs.advance(run, run.creation.next, new Date(now.getTime() + RETRY_MS));
  return false;
}
