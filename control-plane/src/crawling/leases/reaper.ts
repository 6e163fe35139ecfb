import { LEASE_MS } from '@adsweep/shared/lease/messages.ts';
import type { FarmMetrics } from '../../metrics.ts';
import { type Loop, startLoop } from '../../platform/start-loop.ts';
import type { CrawlQueue, LeaseRef } from '../queue/queue.ts';
import { type EndDependencies, endAttempt } from './end-attempt.ts';
import { putBack } from './mend-queue.ts';
import { ReaperGrace } from './reaper-grace.ts';

export type ReaperDependencies = EndDependencies & {
  queue: Pick<CrawlQueue, 'end' | 'enqueue' | 'reap' | 'depth' | 'connection'>;
  metrics: EndDependencies['metrics'] & Pick<FarmMetrics, 'leases'>;
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

/** Ends every attempt whose lease has run out; answers how many there were. */
export async function reap(dependencies: ReaperDependencies, now: Date): Promise<number> {
  const expired = await dependencies.queue.reap();
  await endAllLost(dependencies, expired, now);
  return expired.length;
}

async function endAllLost(dependencies: ReaperDependencies, expired: LeaseRef[], now: Date): Promise<void> {
  await Promise.all(expired.map((ref) => endLost(dependencies, ref, now)));
}

async function endLost(dependencies: ReaperDependencies, ref: LeaseRef, now: Date): Promise<void> {
  const cause = 'the lease ran out';
  const end = await endAttempt(dependencies, ref, { code: 'node: LOST', cause, capture: null }, now);
  if (end === 'ended') return dependencies.metrics.leases.inc({ outcome: 'lost' });
  // A crash between two steps can leave a pending scan whose job was leased.
  const scan = await dependencies.scans.findForWork(ref.scanId);
  if (scan?.status === 'pending') await putBack(dependencies, scan, now);
}
