import { DAY_MS } from '@adsweep/shared/durations.ts';
import { inTurns } from '@adsweep/shared/service/time-slice.ts';
import { withDeadline } from '@adsweep/shared/service/with-deadline.ts';
import { ObjectsUnavailable } from '../../platform/objects/object-store.ts';
import { type Loop, startLoop } from '../../platform/start-loop.ts';
import { atTheirLimit, countEach, type Serving, withinLimits } from '../../platform/start-pool.ts';
import type { WakeSignal } from '../../platform/wake-signal.ts';
import { changeScan, claimScan } from '../../scan/change-scan.ts';
import type { ScanRecord } from '../../scan/scan.ts';
import type { ScanStore } from '../../scan/scan-store.ts';
import { abandonAnalysis, type FinishDependencies, finishScan, type Slot } from './finish-scan.ts';

export type WorkerDependencies = FinishDependencies & {
  scans: Pick<ScanStore, 'apply' | 'applyClaim' | 'awaitingAnalysis'>;
  /** Announces that a scan's outbox has entries. */
  outboxFilled: () => void;
};

/**
 * `slots`: scans that a worker analyses at once; `waiting`: further scans that may wait for the model meanwhile;
 * `claimMs`: time without a renewal after which another worker takes a scan over; `analysisMs`: time limit of one
 * scan's analysis.
 */
export type WorkerLimits = { slots: number; waiting?: number; claimMs: number; analysisMs: number };

/** The defaults. */
export const LIMITS = { slots: 8, waiting: 64, claimMs: 30_000, analysisMs: 300_000 } satisfies WorkerLimits;
/** The share of both that the scans of one organization may take: of another one's, some are always under way. */
const OF_ONE = 0.75;
/** Attempts at a scan's analysis; one that never ended is then abandoned. */
const ATTEMPTS_MAX = 3;
/**
 * While the files cannot be reached, attempts are not counted; after this time they are: then a file alone may be
 * unreadable.
 */
const OUTAGE_MAX_MS = DAY_MS;
const RENEWALS_PER_CLAIM = 3;
/** The worker is woken when a scan was crawled; this interval covers lost hints and expired claims. */
const LOOK_EVERY_MS = 5_000;

/**
 * Finishes crawled scans, each in a slot until it only waits; `crawled` announces that there is one. `stop` waits for
 * running analyses; scans that wait for the model are left to the next worker.
 */
export function startWorker(
  dependencies: WorkerDependencies,
  crawled: WakeSignal,
  limits: WorkerLimits = LIMITS,
): Loop {
  const { slots, waiting = LIMITS.waiting } = limits;
  const running = new Map<Promise<void>, ScanRecord>();
  const inSlots = new Set<ScanRecord>();
  const stopping = new AbortController();

  const freeSlots = (): number => (running.size - inSlots.size >= waiting ? 0 : slots - inSlots.size);
  const owners = (scans: Iterable<ScanRecord>) => [...scans].map(({ organization_id }) => organization_id);
  const serving = (): Serving => ({ each: Math.ceil(slots * OF_ONE), now: countEach(owners(inSlots)) });
  /** The organizations of which no further scan may begin. */
  const atLimit = (): string[] => {
    const waitFor = [...running.values()].filter((scan) => !inSlots.has(scan));
    return [
      ...atTheirLimit(serving()),
      ...atTheirLimit({ each: Math.ceil(waiting * OF_ONE), now: countEach(owners(waitFor)) }),
    ];
  };
  /**
   * Frees a slot, and looks for waiting scans if any may have been left: otherwise the last turn has looked for them.
   */
  const makeRoom = (remove: () => void) => {
    const wasFull = freeSlots() === 0 || atLimit().length > 0;
    remove();
    if (wasFull) crawled.raise();
  };
  const start = (scan: ScanRecord) => {
    inSlots.add(scan);
    const slot = { leave: () => makeRoom(() => inSlots.delete(scan)), signal: stopping.signal };
    const done = finishClaimed(dependencies, scan, new Date(), limits, slot).finally(() =>
      makeRoom(() => {
        running.delete(done);
        inSlots.delete(scan);
      }),
    );
    running.set(done, scan);
  };
  const step = async () => {
    const free = freeSlots();
    if (free === 0) return false;
    const bounds = { count: free, except: atLimit(), serving: serving() };
    const { claimed, hasMore } = await claimScans(dependencies, new Date(), limits, bounds);
    claimed.forEach(start);
    return hasMore;
  };

  const loop = startLoop(dependencies.logger, { name: 'pipeline', everyMs: LOOK_EVERY_MS, step, wake: crawled });
  return {
    async stop() {
      await loop.stop();
      stopping.abort(new Error('the worker stops'));
      await Promise.all(running.keys());
    },
  };
}

/** Finishes as many waiting scans as there are slots, once, and returns how many it claimed. */
export async function finishCrawled(
  dependencies: WorkerDependencies,
  now: Date,
  limits: WorkerLimits = LIMITS,
): Promise<number> {
  const { slots: count } = limits;
  const serving = { each: count, now: new Map() };
  const { claimed } = await claimScans(dependencies, now, limits, { count, except: [], serving });
  await Promise.all(claimed.map((scan) => finishClaimed(dependencies, scan, now, limits)));
  return claimed.length;
}

type ClaimBounds = { count: number; except: readonly string[]; serving: Serving };

/**
 * Claims up to `count` scans, none of the organizations in `except`, and of each other one as many as `serving` allows.
 * `hasMore`: there may be others, beyond `count` or instead of those that another worker claimed first.
 */
async function claimScans(
  { scans }: WorkerDependencies,
  now: Date,
  { claimMs }: WorkerLimits,
  { count, except, serving }: ClaimBounds,
): Promise<{ claimed: ScanRecord[]; hasMore: boolean }> {
  const waiting = await scans.awaitingAnalysis(now, count, except);
  const until = new Date(now.getTime() + claimMs);
  const changed = await inTurns(withinLimits(waiting, serving), (scan) => claimScan(scans, scan, until, now));
  const claimed = changed.filter((scan) => scan !== null);
  return { claimed, hasMore: waiting.length === count || claimed.length < waiting.length };
}

/**
 * A scan whose analysis throws is left until its claim expires and another worker takes it; the others are not
 * affected. An outage of the files does not use up its attempts.
 */
async function finishClaimed(
  dependencies: WorkerDependencies,
  claimed: ScanRecord,
  now: Date,
  limits: WorkerLimits,
  slot?: Slot,
): Promise<void> {
  const stopRenewing = keepClaim(dependencies, claimed, limits);
  try {
    if (await finish(dependencies, claimed, now, limits, slot)) dependencies.outboxFilled();
  } catch (cause) {
    stopRenewing();
    const isExcused = isOutage(cause, claimed, now);
    if (isExcused) await uncountAttempt(dependencies, claimed, now);
    // The outage itself is logged where the files are read.
    const about = { scan_id: claimed._id, cause };
    dependencies.logger[isExcused ? 'debug' : 'warn'](about, 'the analysis of a scan was interrupted');
  } finally {
    stopRenewing();
  }
}

const isOutage = (cause: unknown, { status_at }: ScanRecord, now: Date): boolean =>
  cause instanceof ObjectsUnavailable && now.getTime() - (status_at?.getTime() ?? 0) < OUTAGE_MAX_MS;

/**
 * The claim holds until it expires, which is the pause before the next attempt. Where this fails too, the attempt is
 * counted.
 */
async function uncountAttempt({ scans, logger }: WorkerDependencies, claimed: ScanRecord, now: Date): Promise<void> {
  await changeScan(scans, claimed, { type: 'uncount_checks' }, now).catch((cause: unknown) =>
    logger.debug({ scan_id: claimed._id, cause }, 'an attempt at the analysis is counted'),
  );
}

/** Renews a claim until the returned function is called or another worker has taken the scan over. */
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
  { analysisMs }: WorkerLimits,
  slot?: Slot,
): Promise<boolean> {
  const attempts = claimed.checks_attempts ?? 1;
  if (attempts > ATTEMPTS_MAX) return abandonAnalysis(dependencies, claimed, now);
  return withDeadline(finishScan(dependencies, claimed, now, slot), analysisMs, `attempt ${attempts} at the analysis`);
}
