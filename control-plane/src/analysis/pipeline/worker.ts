import { withDeadline } from '@adsweep/shared/service/with-deadline.ts';
import { type Loop, startLoop } from '../../platform/start-loop.ts';
import type { WakeSignal } from '../../platform/wake-signal.ts';
import { changeScan } from '../../scanning/scans/state/change-scan.ts';
import type { FarmScans } from '../../scanning/scans/state/farm-scans.ts';
import type { ScanRecord } from '../../scanning/scans/state/scan.ts';
import { abandonChecks, type FinishDependencies, finishScan } from './finish-scan.ts';

export type WorkerDependencies = FinishDependencies & {
  scans: Pick<FarmScans, 'apply' | 'awaitingChecks'>;
  /** Says that there is something in a scan's outbox. */
  outboxFilled: () => void;
};

/** How long a worker may take for one scan before another takes it over. */
const CLAIM_MS = 60_000;
/** How long the checks of one scan may take; shorter than the claim, so that a late end meets nobody else's. */
const CHECKS_MS = 45_000;
/** Checks that were begun this often without an end are not begun again. */
const CHECKS_ATTEMPTS_MAX = 3;
const LOOK_EVERY_MS = 1_000;
const AT_ONCE = 8;

/** Finishes crawled scans; `crawled` says that there is one. */
export function startWorker(dependencies: WorkerDependencies, crawled: WakeSignal): Loop {
  const turn = async () => (await finishCrawled(dependencies, new Date())) > 0;
  return startLoop(dependencies.logger, { name: 'pipeline', everyMs: LOOK_EVERY_MS, turn, wake: crawled });
}

/** Finishes the scans that wait for their checks, and those whose worker is gone; answers how many it claimed. */
export async function finishCrawled(dependencies: WorkerDependencies, now: Date): Promise<number> {
  const waiting = await dependencies.scans.awaitingChecks(now, AT_ONCE);
  const claims = await Promise.all(waiting.map((scan) => claimAndFinish(dependencies, scan, now)));
  return claims.filter(Boolean).length;
}

/** A scan that fails is left to whoever finds its claim run out; the others go on. */
async function claimAndFinish(dependencies: WorkerDependencies, scan: ScanRecord, now: Date): Promise<boolean> {
  const claim = { type: 'claim_checks' as const, until: new Date(now.getTime() + CLAIM_MS) };
  const claimed = await changeScan(dependencies.scans, scan, claim, now);
  if (!claimed) return false;
  try {
    if (await finish(dependencies, claimed, now)) dependencies.outboxFilled();
  } catch (cause) {
    dependencies.logger.warn({ scan_id: scan._id, cause }, 'the checks of a scan were interrupted');
  }
  return true;
}

function finish(dependencies: WorkerDependencies, claimed: ScanRecord, now: Date): Promise<boolean> {
  const attempts = claimed.checks_attempts ?? 1;
  if (attempts > CHECKS_ATTEMPTS_MAX) return abandonChecks(dependencies, claimed, now);
  return withDeadline(finishScan(dependencies, claimed, now), CHECKS_MS, `attempt ${attempts} at the checks`);
}
