import { withDeadline } from '@adsweep/shared/service/with-deadline.ts';
import { type Loop, startLoop } from '../../platform/start-loop.ts';
import type { WakeSignal } from '../../platform/wake-signal.ts';
import { changeScan } from '../../scan/change-scan.ts';
import type { InternalScans } from '../../scan/internal-scans.ts';
import type { ScanRecord } from '../../scan/scan.ts';
import { abandonChecks, type FinishDependencies, finishScan, type Turn } from './finish-scan.ts';

export type WorkerDependencies = FinishDependencies & {
  scans: Pick<InternalScans, 'apply' | 'awaitingChecks'>;
  /** Says that there is something in a scan's outbox. */
  outboxFilled: () => void;
};

/**
 * How many scans a worker checks at once, how many more may wait for the model meanwhile, how long it may be silent about one before
 * another worker takes it over, and how long the checks of one scan may take; both in ms.
 */
export type WorkerLimits = { slots: number; waiting?: number; claimMs: number; checksMs: number };

/** The defaults. */
export const LIMITS = { slots: 8, waiting: 64, claimMs: 30_000, checksMs: 300_000 } satisfies WorkerLimits;
/** Checks that were started this often and never finished are not started again. */
const CHECKS_ATTEMPTS_MAX = 3;
const RENEWALS_PER_CLAIM = 3;
/** The worker is woken when a scan was crawled; this interval covers lost hints and expired claims. */
const LOOK_EVERY_MS = 5_000;

/**
 * Finishes crawled scans, each in a slot of its own until it only waits; `crawled` says that there is one. `stop` waits for the checks under
 * way; those that wait for the model are left to the next worker.
 */
export function startWorker(
  dependencies: WorkerDependencies,
  crawled: WakeSignal,
  limits: WorkerLimits = LIMITS,
): Loop {
  const { slots, waiting = LIMITS.waiting } = limits;
  const running = new Set<Promise<void>>();
  const inSlots = new Set<ScanRecord>();
  const stopping = new AbortController();

  const freeSlots = (): number => (running.size - inSlots.size >= waiting ? 0 : slots - inSlots.size);
  /** Frees a slot, and looks for waiting scans if none was free: otherwise the last turn has looked for them. */
  const makeRoom = (remove: () => void) => {
    const wasFull = freeSlots() === 0;
    remove();
    if (wasFull) crawled.raise();
  };
  const check = (scan: ScanRecord) => {
    inSlots.add(scan);
    const turn = { leaveSlot: () => makeRoom(() => inSlots.delete(scan)), signal: stopping.signal };
    const done = finishClaimed(dependencies, scan, new Date(), limits, turn).finally(() =>
      makeRoom(() => {
        running.delete(done);
        inSlots.delete(scan);
      }),
    );
    running.add(done);
  };
  const turn = async () => {
    const free = freeSlots();
    if (free === 0) return false;
    const { claimed, hasMore } = await claimChecks(dependencies, new Date(), limits, free);
    claimed.forEach(check);
    return hasMore;
  };

  const loop = startLoop(dependencies.logger, { name: 'pipeline', everyMs: LOOK_EVERY_MS, turn, wake: crawled });
  return {
    async stop() {
      await loop.stop();
      stopping.abort(new Error('the worker stops'));
      await Promise.all(running);
    },
  };
}

/** Finishes as many of the waiting scans as there are slots, once; answers how many it claimed. */
export async function finishCrawled(
  dependencies: WorkerDependencies,
  now: Date,
  limits: WorkerLimits = LIMITS,
): Promise<number> {
  const { claimed } = await claimChecks(dependencies, now, limits, limits.slots);
  await Promise.all(claimed.map((scan) => finishClaimed(dependencies, scan, now, limits)));
  return claimed.length;
}

/** Claims up to `count` scans. `hasMore`: there may be others, beyond those or in the place of those that someone else was faster with. */
async function claimChecks(
  { scans }: WorkerDependencies,
  now: Date,
  { claimMs }: WorkerLimits,
  count: number,
): Promise<{ claimed: ScanRecord[]; hasMore: boolean }> {
  const waiting = await scans.awaitingChecks(now, count);
  const claim = { type: 'claim_checks' as const, until: new Date(now.getTime() + claimMs) };
  const changed = await Promise.all(waiting.map((scan) => changeScan(scans, scan, claim, now)));
  const claimed = changed.filter((scan) => scan !== null);
  return { claimed, hasMore: waiting.length === count || claimed.length < waiting.length };
}

/** A scan whose checks throw is left until its claim expires and another worker takes it; the others go on. */
async function finishClaimed(
  dependencies: WorkerDependencies,
  claimed: ScanRecord,
  now: Date,
  limits: WorkerLimits,
  turn?: Turn,
): Promise<void> {
  const stopRenewing = keepClaim(dependencies, claimed, limits);
  try {
    if (await finish(dependencies, claimed, now, limits, turn)) dependencies.outboxFilled();
  } catch (cause) {
    dependencies.logger.warn({ scan_id: claimed._id, cause }, 'the checks of a scan were interrupted');
  } finally {
    stopRenewing();
  }
}

/** Renews a claim until the function that it answers is called, or until another worker has taken the scan over. */
function keepClaim({ scans, logger }: WorkerDependencies, claimed: ScanRecord, { claimMs }: WorkerLimits): () => void {
  const renew = async () => {
    const now = new Date();
    const event = { type: 'renew_checks' as const, until: new Date(now.getTime() + claimMs) };
    if (!(await changeScan(scans, claimed, event, now))) clearInterval(timer);
  };
  const failed = (cause: unknown) => logger.debug({ scan_id: claimed._id, cause }, 'a claim could not be renewed');
  const timer = setInterval(() => void renew().catch(failed), claimMs / RENEWALS_PER_CLAIM);
  return () => clearInterval(timer);
}

function finish(
  dependencies: WorkerDependencies,
  claimed: ScanRecord,
  now: Date,
  { checksMs }: WorkerLimits,
  turn?: Turn,
): Promise<boolean> {
  const attempts = claimed.checks_attempts ?? 1;
  if (attempts > CHECKS_ATTEMPTS_MAX) return abandonChecks(dependencies, claimed, now);
  return withDeadline(finishScan(dependencies, claimed, now, turn), checksMs, `attempt ${attempts} at the checks`);
}
