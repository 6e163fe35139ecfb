import { LEASE_MS } from '@adsweep/shared/lease/messages.ts';
import type { WorkMetrics } from '../../metrics.ts';
import { type Loop, startLoop } from '../../platform/start-loop.ts';
import type { CrawlQueue } from '../queue/queue.ts';
import type { LeaseRef } from '../queue/queued-job.ts';
import { runsUnder } from './choose-members.ts';
import { type EndDependencies, endAttempt } from './end-attempt.ts';
import { ReaperGrace } from './reaper-grace.ts';
import { settleJob } from './settle-job.ts';

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
  await settleJob(dependencies, ref, now);
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
