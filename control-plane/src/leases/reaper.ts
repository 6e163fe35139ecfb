import { LEASE_MS } from '@adsweep/shared/lease/messages.ts';
import type { CrawlQueue, LeaseRef } from '../crawl-jobs/queue.ts';
import type { FarmMetrics } from '../metrics.ts';
import { type Loop, startLoop } from '../platform/start-loop.ts';
import { type EndDependencies, endAttempt } from './end-attempt.ts';
import { putBack } from './mend-queue.ts';

export type ReaperDependencies = EndDependencies & {
  queue: Pick<CrawlQueue, 'end' | 'enqueue' | 'reap' | 'depth'>;
  metrics: EndDependencies['metrics'] & Pick<FarmMetrics, 'leases'>;
};

const REAP_EVERY_MS = 1_000;

/**
 * Ends the attempts of lost nodes. It takes nothing before it has been able to for as long as a lease lives: after an outage of ours,
 * or of Redis, nodes that are alive have had the time to renew.
 */
export function startReaper(dependencies: ReaperDependencies, graceMs = LEASE_MS): Loop {
  const { queue, logger } = dependencies;
  let ableSince: number | null = null;

  const turn = async () => {
    try {
      if (ableSince === null) await queue.depth();
      ableSince ??= performance.now();
      if (performance.now() - ableSince >= graceMs) await reap(dependencies, new Date());
    } catch (error) {
      ableSince = null;
      throw error;
    }
  };
  return startLoop(logger, { name: 'reaper', everyMs: REAP_EVERY_MS, turn });
}

/** Ends every attempt whose lease has run out; answers how many there were. */
export async function reap(dependencies: ReaperDependencies, now: Date): Promise<number> {
  const expired = await dependencies.queue.reap();
  await Promise.all(expired.map((ref) => endLost(dependencies, ref, now)));
  return expired.length;
}

async function endLost(dependencies: ReaperDependencies, ref: LeaseRef, now: Date): Promise<void> {
  const cause = 'the lease ran out';
  const end = await endAttempt(dependencies, ref, { code: 'node: LOST', cause, capture: null }, now);
  if (end === 'ended') return dependencies.metrics.leases.inc({ outcome: 'lost' });
  // A crash between two steps can leave a pending scan whose job was leased.
  const scan = await dependencies.scans.findForWork(ref.scanId);
  if (scan?.status === 'pending') await putBack(dependencies, scan, now);
}
