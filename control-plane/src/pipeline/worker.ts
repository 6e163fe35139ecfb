import { type Loop, startLoop } from '../platform/start-loop.ts';
import type { WakeSignal } from '../platform/wake-signal.ts';
import { changeScan } from '../scans/change-scan.ts';
import type { FarmScans } from '../scans/farm-scans.ts';
import type { ScanRecord } from '../scans/scan.ts';
import { type FinishDependencies, finishScan } from './finish-scan.ts';

export type WorkerDependencies = FinishDependencies & {
  scans: Pick<FarmScans, 'apply' | 'awaitingChecks'>;
  /** Says that there is something in a scan's outbox. */
  outboxFilled: () => void;
};

/** How long a worker may take for one scan before another takes it over. */
const CLAIM_MS = 60_000;
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
    if (await finishScan(dependencies, claimed, now)) dependencies.outboxFilled();
  } catch (cause) {
    dependencies.logger.warn({ scan_id: scan._id, cause }, 'the checks of a scan were interrupted');
  }
  return true;
}
