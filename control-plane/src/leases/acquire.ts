import { type Acquire, LEASE_MS, type Lease } from '@adsweep/shared/lease/messages.ts';
import type { CrawlQueue, LeaseRef } from '../crawl-jobs/queue.ts';
import { changeScan } from '../scans/change-scan.ts';
import type { FarmScans } from '../scans/farm-scans.ts';
import { crawlJobOf } from './crawl-job-of.ts';
import { leaseIdOf, leaseToken } from './lease-token.ts';

/** Work enqueued by another process is seen this late at most. */
const LOOK_EVERY_MS = 1_000;

export type AcquireDependencies = {
  queue: Pick<CrawlQueue, 'take' | 'end' | 'waitForWork'>;
  scans: Pick<FarmScans, 'findForWork' | 'apply'>;
  leaseSecret: string;
};

/**
 * Leases up to `max` jobs to a node, waiting up to `wait_ms` for the first; possibly none. `gone` ends the wait. Where the queue is
 * away all the time, its error is thrown when the wait is over, so that nodes do not come running in between.
 */
export async function acquire(
  dependencies: AcquireDependencies,
  { node_id, max, wait_ms }: Acquire,
  gone: AbortSignal,
): Promise<Lease[]> {
  const { queue } = dependencies;
  const deadline = performance.now() + wait_ms;
  for (;;) {
    const taken = await queue.take(node_id, max).catch((error: unknown) => new QueueAway(error));
    const leases = taken instanceof QueueAway ? [] : await grantAll(dependencies, taken, node_id);
    if (leases.length > 0) return leases;
    const left = deadline - performance.now();
    if (gone.aborted) return [];
    if (left <= 0 && taken instanceof QueueAway) throw taken;
    if (left <= 0) return [];
    const nobodyWaited = taken instanceof QueueAway || taken.length === 0;
    if (nobodyWaited) await queue.waitForWork(Math.min(left, LOOK_EVERY_MS), gone);
  }
}

/** The queue did not answer; nodes try again. */
export class QueueAway extends Error {
  constructor(cause: unknown) {
    super('the queue does not answer', { cause });
  }
}

async function grantAll(dependencies: AcquireDependencies, taken: LeaseRef[], nodeId: string): Promise<Lease[]> {
  const leases = await Promise.all(taken.map((ref) => grant(dependencies, ref, nodeId)));
  return leases.filter((lease) => lease !== null);
}

/** Makes a job of the index a lease of the scan; null, and the job forgotten, where nobody wants the scan any more. */
async function grant(
  { queue, scans, leaseSecret }: AcquireDependencies,
  ref: LeaseRef,
  nodeId: string,
): Promise<Lease | null> {
  const scan = await scans.findForWork(ref.scanId);
  const now = new Date();
  const lease = { fence: ref.fence, node_id: nodeId, leased_at: now };
  const running = scan && (await changeScan(scans, scan, { type: 'lease', lease }, now));
  if (!running) {
    await queue.end(ref);
    return null;
  }
  const leaseId = leaseIdOf(ref);
  return {
    lease_id: leaseId,
    token: leaseToken(leaseSecret, leaseId),
    expires_in_ms: LEASE_MS,
    job: crawlJobOf(running, ref.fence),
  };
}
