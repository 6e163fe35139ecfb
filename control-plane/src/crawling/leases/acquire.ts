import { type Acquire, LEASE_MS, type Lease } from '@adsweep/shared/lease/messages.ts';
import type { Logger } from '@adsweep/shared/service/logger.ts';
import { changeScan } from '../../scan/change-scan.ts';
import type { InternalScans } from '../../scan/internal-scans.ts';
import type { JobRef, ScanLease, ScanRecord } from '../../scan/scan.ts';
import { leaseIdOf, leaseToken, type NodeIdentity, nodeKeyOf } from '../fleet/credentials.ts';
import type { CrawlQueue } from '../queue/queue.ts';
import type { LeaseRef } from '../queue/queue-shards.ts';
import { closeLease } from './close-lease.ts';
import { chooseMembers, crawlJobOf } from './job-members.ts';

export type AcquireDependencies = {
  queue: Pick<CrawlQueue, 'take' | 'end' | 'enqueue' | 'waitForWork'>;
  scans: Pick<InternalScans, 'membersOf' | 'findMember' | 'withTarget' | 'apply'>;
  leaseSecret: string;
  logger: Logger;
};

/** A node's request for work. */
export type AskedWork = Pick<Acquire, 'max' | 'wait_ms'> & { node: NodeIdentity };

/**
 * Leases up to `max` jobs to a node, never more than it has slots, waiting up to `wait_ms` for the first; possibly none. `gone` ends the wait. Where the queue is
 * away all the time, its error is thrown when the wait is over, so that nodes do not come running in between.
 */
export async function acquire(
  dependencies: AcquireDependencies,
  { node, max, wait_ms }: AskedWork,
  gone: AbortSignal,
): Promise<Lease[]> {
  const { queue } = dependencies;
  const deadline = performance.now() + wait_ms;
  for (;;) {
    const taken = await queue.take(nodeKeyOf(node), max, node.slots).catch((error: unknown) => new QueueAway(error));
    const leases = taken instanceof QueueAway ? [] : await grantAll(dependencies, taken, node);
    if (leases.length > 0) return leases;
    const left = deadline - performance.now();
    if (gone.aborted) return [];
    if (left <= 0 && taken instanceof QueueAway) throw taken;
    if (left <= 0) return [];
    const nobodyWaited = taken instanceof QueueAway || taken.length === 0;
    if (nobodyWaited) await queue.waitForWork(left, gone);
  }
}

/** The queue did not answer; nodes retry. */
export class QueueAway extends Error {
  constructor(cause: unknown) {
    super('the queue does not answer', { cause });
  }
}

async function grantAll(dependencies: AcquireDependencies, taken: LeaseRef[], node: NodeIdentity): Promise<Lease[]> {
  const leases = await Promise.all(taken.map((ref) => grant(dependencies, ref, node)));
  return leases.filter((lease) => lease !== null);
}

/** Turns a queued job into a lease of its waiting members; null if there are none, which settles the job. */
async function grant(dependencies: AcquireDependencies, ref: LeaseRef, node: NodeIdentity): Promise<Lease | null> {
  const { scans, leaseSecret } = dependencies;
  const now = new Date();
  const lease = { fence: ref.fence, node_id: node.nodeId, instance: node.instance, leased_at: now };
  const { isolation, chosen } = chooseMembers(await scans.membersOf(ref), ref.fence);
  const taken = await Promise.all(chosen.map(({ _id }) => leaseMember(scans, ref, _id, lease)));
  const members = taken.filter((member) => member !== null);
  const [first] = members;
  if (!first) {
    await closeLease(dependencies, ref, now);
    return null;
  }
  const leaseId = leaseIdOf(ref);
  return {
    lease_id: leaseId,
    token: leaseToken(leaseSecret, leaseId),
    expires_in_ms: LEASE_MS,
    job: crawlJobOf(ref, first.job_kind, isolation, members),
  };
}

/** The member as it stands under `lease`, with its whole target; null where it was cancelled, or changed by someone else, meanwhile. */
async function leaseMember(
  scans: AcquireDependencies['scans'],
  job: JobRef,
  id: string,
  lease: ScanLease,
): Promise<ScanRecord | null> {
  const scan = await scans.findMember(job, id);
  const leased = scan && (await changeScan(scans, scan, { type: 'lease', lease }, lease.leased_at));
  return leased && scans.withTarget(leased);
}
