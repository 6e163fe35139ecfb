import { setTimeout } from 'node:timers/promises';
import { LEASE_MS } from '@adsweep/shared/lease/messages.ts';
import { inTurns } from '@adsweep/shared/service/time-slice.ts';
import type { WorkMetrics } from '../../metrics.ts';
import { type Loop, startLoop } from '../../platform/start-loop.ts';
import { REAPED_MAX } from '../queue/leased-jobs.ts';
import type { CrawlQueue } from '../queue/queue.ts';
import type { LeaseRef } from '../queue/queue-shards.ts';
import { closeLease } from './close-lease.ts';
import { type EndDependencies, endAttempt } from './end-attempt.ts';
import { membersUnder } from './running-scans.ts';

export type ReaperDependencies = LossDependencies & {
  queue: Pick<CrawlQueue, 'end' | 'enqueue' | 'reap' | 'depth' | 'connection'>;
};

const REAP_EVERY_MS = 1_000;
/** A step that starts this much later than planned, in ms, shows that the process was paused. */
const LATE_MS = 1_000;

/** The leases of a node that disappears end within this time, in ms, while the control plane and Redis are on time. */
export const LOSS_NOTICED_MS = LEASE_MS + REAP_EVERY_MS + LATE_MS;

export type ReaperTiming = { graceMs?: number; clock?: () => number };

/** Ends the attempts of lost nodes, once live nodes have had the time to renew their leases ({@link ReaperGrace}). */
export function startReaper(
  dependencies: ReaperDependencies,
  { graceMs = LEASE_MS, clock = () => performance.now() }: ReaperTiming = {},
): Loop {
  const grace = new ReaperGrace({ graceMs, everyMs: REAP_EVERY_MS, clock });
  const step = () => reapOnTime(dependencies, grace);
  return startLoop(dependencies.logger, { name: 'reaper', everyMs: REAP_EVERY_MS, step });
}

/**
 * One step of the reaper; returns whether there may be more expired leases. If Redis answered late, the reaped leases
 * are not ended: a lease that its scan still names is adopted again, by the next renewal of its node or by the refill.
 */
async function reapOnTime(dependencies: ReaperDependencies, grace: ReaperGrace): Promise<boolean> {
  const { queue } = dependencies;
  try {
    if (!grace.mayReap(queue.connection())) {
      await queue.depth();
      return false;
    }
    const expired = await queue.reap();
    if (!grace.stillOnTime()) return false;
    const ends = endAllLost(dependencies, expired, new Date());
    try {
      // To end many takes seconds, in which the process and Redis may be paused as well.
      while (!(await isDoneWithin(REAP_EVERY_MS, ends))) {
        grace.mayReap(queue.connection());
        await queue.depth();
      }
    } finally {
      // Also if Redis fails: the next step would run beside it, and the process would not wait for it when it stops.
      await ends;
    }
    grace.mayReap(queue.connection());
    return expired.length >= REAPED_MAX;
  } catch (error) {
    grace.restart();
    throw error;
  }
}

const isDoneWithin = (ms: number, work: Promise<void>): Promise<boolean> =>
  Promise.race([work.then(() => true), setTimeout(ms, false, { ref: false })]);

/** Ends all expired leases; returns how many there were. */
export async function reap(dependencies: ReaperDependencies, now: Date): Promise<number> {
  const expired = await dependencies.queue.reap();
  await endAllLost(dependencies, expired, now);
  return expired.length;
}

async function endAllLost(dependencies: ReaperDependencies, expired: LeaseRef[], now: Date): Promise<void> {
  await inTurns(expired, (ref) => endLost(dependencies, ref, 'the lease ran out', now));
}

/** What the end of a lost lease needs. */
export type LossDependencies = EndDependencies & {
  metrics: EndDependencies['metrics'] & Pick<WorkMetrics, 'leases'>;
};

/**
 * Ends the attempts of all members that ran under the lease, and closes it. After a crash between these two steps there
 * are none.
 */
export async function endLost(dependencies: LossDependencies, ref: LeaseRef, cause: string, now: Date): Promise<void> {
  const failure = { code: 'node: LOST' as const, cause, capture: null };
  const running = await membersUnder(dependencies.scans, ref);
  const ends = await Promise.all(
    running.map((scan) => endAttempt(dependencies, { scan, fence: ref.fence }, failure, now)),
  );
  if (ends.includes('ended')) dependencies.metrics.leases.inc({ outcome: 'lost' });
  await closeLease(dependencies, ref, now);
}

/** How long the reaper waits before its first lease, the interval of its steps, and a monotonic clock; all in ms. */
export type GracePlan = { graceMs: number; everyMs: number; clock: () => number };

/**
 * Decides when leases may be reaped: after `graceMs` of steps on time over one connection to Redis. A pause of the
 * process, an outage of Redis or a new connection restarts the wait, because live nodes could not renew in the
 * meantime.
 */
export class ReaperGrace {
  readonly #plan: GracePlan;
  #since: number | null = null;
  #lastSeen = 0;
  #connection: number | null = null;

  constructor(plan: GracePlan) {
    this.#plan = plan;
  }

  /**
   * Whether leases may be reaped now. To be called at the start of a step and each second of a long one, with the
   * number of the connection to Redis.
   */
  mayReap(connection: number): boolean {
    if (connection !== this.#connection) this.restart();
    this.#connection = connection;
    return this.stillOnTime(this.#plan.everyMs);
  }

  /**
   * Whether the time since the last call was at most `plannedMs` and a second. If not, a reply of Redis must not be
   * acted upon.
   */
  stillOnTime(plannedMs = 0): boolean {
    const now = this.#plan.clock();
    if (this.#since === null || now - this.#lastSeen > plannedMs + LATE_MS) this.#since = now;
    this.#lastSeen = now;
    return now - this.#since >= this.#plan.graceMs;
  }

  /** Restarts the wait at the next step. */
  restart(): void {
    this.#since = null;
  }
}
