import { derivedId } from '@adsweep/shared/ids.ts';
import type { Logger } from '@adsweep/shared/service/logger.ts';
import { inTurns } from '@adsweep/shared/service/time-slice.ts';
import { ApiError } from '../../http/api-error.ts';
import type { WorkMetrics } from '../../metrics.ts';
import { type Loop, startLoop } from '../../platform/start-loop.ts';
import type { RunCounts } from '../../scan/run-counts.ts';
import type { CampaignRecord } from '../campaigns/campaign.ts';
import type { CampaignStore } from '../campaigns/campaign-store.ts';
import type { Firing } from '../campaigns/firing-store.ts';
import { nextRunOf, type ScheduleProblem } from '../schedules/schedule.ts';
import { countersOf, type RunRecord } from './run.ts';
import type { StartRun } from './start-run.ts';

export type FireParts = {
  campaigns: Pick<CampaignStore, 'dueSchedules' | 'interruptedFirings' | 'beginFiring' | 'repeatFiring' | 'endFiring'>;
  /** Whether the schedules of a group are paused. */
  isPaused: (organizationId: string, groupId: string) => Promise<boolean>;
  findRun: (organizationId: string, id: string) => Promise<RunRecord | null>;
  countRun: (organizationId: string, id: string) => Promise<RunCounts>;
  startRun: StartRun;
  metrics: Pick<WorkMetrics, 'firings' | 'lateness'>;
  logger: Logger;
};

const EVERY_MS = 1_000;
const AT_ONCE = 20;
/** After this time another process takes over a firing. */
const CLAIM_MS = 30_000;

/** Fires the schedules of campaigns. Any number of processes may do this at the same time. */
export function startFiring(parts: FireParts): Loop {
  return startLoop(parts.logger, {
    name: 'schedules',
    everyMs: EVERY_MS,
    step: () => fireSchedules(parts, new Date()),
  });
}

/** Fires the schedules that are due, and those whose firing was interrupted; whether there were any. */
export async function fireSchedules(parts: FireParts, now: Date): Promise<boolean> {
  const { campaigns } = parts;
  const until = new Date(now.getTime() + CLAIM_MS);
  const [due, interrupted] = await Promise.all([
    campaigns.dueSchedules(now, AT_ONCE),
    campaigns.interruptedFirings(now, AT_ONCE),
  ]);
  // One compare-and-set decides which process fires. However many moments have passed, it fires once.
  const begun = await inTurns(due, (campaign) => campaigns.beginFiring(campaign, nextRunOf(campaign, now), until));
  const repeated = await inTurns(interrupted, (campaign) => campaigns.repeatFiring(campaign, until));
  const firings = [...begun, ...repeated].filter((firing) => firing !== null);
  await inTurns(firings, (firing) => carryOut(parts, firing, now));
  return due.length + interrupted.length > 0;
}

/** If this is interrupted anywhere, it is repeated: the id of the run follows from the campaign and the moment. */
async function carryOut(parts: FireParts, firing: Firing, now: Date): Promise<void> {
  const { campaigns, metrics, logger } = parts;
  const { campaign, moment } = firing;
  try {
    const { run, problem, outcome } = await fire(parts, firing, now);
    await campaigns.endFiring(firing, { problem, runId: run?._id });
    metrics.firings.inc({ outcome });
    metrics.lateness.observe(Math.max(0, now.getTime() - moment.getTime()) / 1_000);
  } catch (cause) {
    logger.warn({ campaign_id: campaign._id, cause }, 'a firing failed and will be repeated');
  }
}

type Fired = {
  run: RunRecord | null;
  /** undefined: the last one stays. */
  problem?: ScheduleProblem | null;
  outcome: 'started' | 'overlap' | 'refused' | 'paused';
};

async function fire(parts: FireParts, { campaign, moment }: Firing, now: Date): Promise<Fired> {
  const { _id, organization_id, group_id, is_archived, schedule_enabled } = campaign;
  const id = derivedId(`${organization_id}/${_id}/${moment.toISOString()}`, 0);
  const earlier = await parts.findRun(organization_id, id);
  if (earlier) return { run: earlier, problem: null, outcome: 'started' };
  // A firing that failed is repeated, and its schedule may have been switched off meanwhile.
  const isOff = is_archived || !schedule_enabled || (await parts.isPaused(organization_id, group_id));
  if (isOff) return { run: null, outcome: 'paused' };
  if (await hasOpenRun(parts, campaign)) {
    const detail = 'The last scheduled run still has scans that wait or run.';
    return { run: null, problem: { code: 'overlap', detail, at: now }, outcome: 'overlap' };
  }
  try {
    return { run: await parts.startRun(campaign, { id, trigger: 'schedule', now }), problem: null, outcome: 'started' };
  } catch (error) {
    const problem = problemOf(error, now);
    if (!problem) throw error;
    return { run: null, problem, outcome: 'refused' };
  }
}

/** Whether the campaign's last scheduled run still has scans that wait or run. */
async function hasOpenRun({ findRun, countRun }: FireParts, campaign: CampaignRecord): Promise<boolean> {
  const { organization_id, last_scheduled_run_id } = campaign;
  const run = last_scheduled_run_id ? await findRun(organization_id, last_scheduled_run_id) : null;
  if (!run) return false;
  const { total, completed, failed, partial, cancelled } = countersOf(run, await countRun(organization_id, run._id));
  return total > completed + failed + partial + cancelled;
}

/**
 * What a client would have been refused: the organization is not active, or its quota, balance or share of the day does
 * not suffice.
 */
function problemOf(error: unknown, at: Date): ScheduleProblem | null {
  if (!(error instanceof ApiError) || ![403, 429].includes(error.status) || typeof error.detail !== 'string')
    return null;
  return { code: error.code, detail: error.detail, at };
}
