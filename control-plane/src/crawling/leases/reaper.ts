import { LEASE_MS } from '@adsweep/shared/lease/messages.ts';
import type { WorkMetrics } from '../../metrics.ts';
import { type Loop, startLoop } from '../../platform/start-loop.ts';
import type { CrawlQueue } from '../queue/queue.ts';
import type { LeaseRef } from '../queue/queue-shards.ts';
import { closeLease } from './close-lease.ts';
import { type EndDependencies, endAttempt } from './end-attempt.ts';
import { runsUnder } from './job-members.ts';

export type ReaperDependencies = EndDependencies & {
  queue: Pick<CrawlQueue, 'end' | 'enqueue' | 'reap' | 'depth' | 'connection'>;
  metrics: EndDependencies['metrics'] & Pick<WorkMetrics, 'leases'>;
};

const REAP_EVERY_MS = 1_000;

export type ReaperTiming = { graceMs?: number; clock?: () => number };

/** Ends the attempts of lost nodes, once {@link ReaperGrace} says that nodes which are alive have had the time to renew. */
export function startReaper(
  dependencies: ReaperDependencies,
  { graceMs = LEASE_MS, clock = () => performance.now() }: ReaperTiming = {},
): Loop {
  const grace = new ReaperGrace({ graceMs, everyMs: REAP_EVERY_MS, clock });
  const turn = () => takeTurn(dependencies, grace);
  return startLoop(dependencies.logger, { name: 'reaper', everyMs: REAP_EVERY_MS, turn });
}

/**
 * One turn of the reaper. What Redis gave out in an answer that came late is left alone: a lease that its scan still names is adopted
 * again, by its node's next renewal or by the refill.
 */
async function takeTurn(dependencies: ReaperDependencies, grace: ReaperGrace): Promise<void> {
  const { queue } = dependencies;
  try {
    if (!grace.mayReap(queue.connection())) return void (await queue.depth());
    const expired = await queue.reap();
    if (grace.stillOnTime()) await endAllLost(dependencies, expired, new Date());
  } catch (error) {
    grace.restart();
    throw error;
  }
}

/** Ends every lease that has run out; answers how many there were. */
export async function reap(dependencies: ReaperDependencies, now: Date): Promise<number> {
  const expired = await dependencies.queue.reap();
  await endAllLost(dependencies, expired, now);
  return expired.length;
}

async function endAllLost(dependencies: ReaperDependencies, expired: LeaseRef[], now: Date): Promise<void> {
  await Promise.all(expired.map((ref) => endLost(dependencies, ref, now)));
}

/** Ends the attempts of all members that ran under the lease. A crash between two steps may have left a job without any: it is settled. */
async function endLost(dependencies: ReaperDependencies, ref: LeaseRef, now: Date): Promise<void> {
  const { scans, metrics } = dependencies;
  const running = (await scans.membersOf(ref)).filter((member) => runsUnder(member, ref.fence));
  const ends = await Promise.all(running.map(({ _id }) => endLostMember(dependencies, ref, _id, now)));
  if (ends.includes('ended')) metrics.leases.inc({ outcome: 'lost' });
  await closeLease(dependencies, ref, now);
}

async function endLostMember(
  dependencies: ReaperDependencies,
  ref: LeaseRef,
  id: string,
  now: Date,
): Promise<'ended' | 'lost'> {
  const scan = await dependencies.scans.findMember(ref, id);
  if (!scan) return 'lost';
  const failure = { code: 'node: LOST' as const, cause: 'the lease ran out', capture: null };
  return endAttempt(dependencies, scan, ref.fence, failure, now);
}

/** A turn may begin this much later than planned before the process counts as having been paused, in ms. */
const LATE_MS = 1_000;

/** How long the reaper waits before it takes anything, how often it looks, both in ms, and a clock that never goes back, in ms. */
export type GracePlan = { graceMs: number; everyMs: number; clock: () => number };

/**
 * Decides when leases may be reaped: after `graceMs` in which this process took its turns on time over one connection to Redis. A pause
 * of the process, an outage of Redis or a new connection starts the wait again, because nodes that are alive could not renew meanwhile.
 */
export class ReaperGrace {
  readonly #plan: GracePlan;
  #since: number | null = null;
  #lastSeen = 0;
  #connection: number | null = null;

  constructor(plan: GracePlan) {
    this.#plan = plan;
  }

  /** Called at the beginning of a turn, with the number of the connection to Redis: whether leases may be reaped now. */
  mayReap(connection: number): boolean {
    if (connection !== this.#connection) this.restart();
    this.#connection = connection;
    return this.stillOnTime(this.#plan.everyMs);
  }

  /** Called after Redis answered: false where that took so long that the answer must not be acted upon. `plannedMs` is allowed for. */
  stillOnTime(plannedMs = 0): boolean {
    const now = this.#plan.clock();
    if (this.#since === null || now - this.#lastSeen > plannedMs + LATE_MS) this.#since = now;
    this.#lastSeen = now;
    return now - this.#since >= this.#plan.graceMs;
  }

  /** Starts the wait again at the next turn. */
  restart(): void {
    this.#since = null;
  }
}
