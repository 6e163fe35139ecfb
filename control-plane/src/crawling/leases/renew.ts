import { LEASE_MS, type Renewed } from '@adsweep/shared/lease/messages.ts';
import type { Logger } from '@adsweep/shared/service/logger.ts';
import type { ScanInQueue } from '../../scan/scan.ts';
import type { ScanStore } from '../../scan/scan-store.ts';
import { nodeKeyOf } from '../fleet/credentials.ts';
import type { CrawlQueue } from '../queue/queue.ts';
import type { LeaseRef } from '../queue/queue-shards.ts';
import { priorityClassOf } from '../queue/waiting-jobs.ts';
import { runsUnder } from './job-members.ts';

export type RenewDependencies = {
  queue: Pick<CrawlQueue, 'renew' | 'adopt'>;
  scans: Pick<ScanStore, 'membersOf'>;
  logger: Logger;
};

/**
 * Renews a lease. If Redis has no such lease or is unavailable, the job's members in MongoDB decide: a lease that one of them names is
 * adopted. This is safe, because no lease is reaped while Redis is unavailable.
 */
export async function renew({ queue, scans, logger }: RenewDependencies, ref: LeaseRef): Promise<Renewed> {
  const known = await queue.renew(ref).catch((cause: unknown) => {
    logger.debug({ job_id: ref.jobId, cause }, 'a lease is renewed without Redis');
    return false;
  });
  if (known) return { outcome: 'renewed', expires_in_ms: LEASE_MS };
  const members = await scans.membersOf(ref);
  const running = members.find((member) => runsUnder(member, ref.fence));
  if (!running) {
    const isCancelled = members.every(({ status }) => status === 'cancelled');
    return { outcome: isCancelled ? 'cancelled' : 'lost', expires_in_ms: 0 };
  }
  await adoptLease(queue, ref, running).catch((cause: unknown) => {
    logger.debug({ job_id: ref.jobId, cause }, 'a lease could not be adopted');
  });
  return { outcome: 'renewed', expires_in_ms: LEASE_MS };
}

/** Writes the lease of a running scan to Redis, for its full duration; false if it is there already. */
export async function adoptLease(queue: Pick<CrawlQueue, 'adopt'>, ref: LeaseRef, scan: ScanInQueue): Promise<boolean> {
  const { node_id = '', instance = '' } = scan.lease ?? {};
  return queue.adopt(ref, { priority: priorityClassOf(scan), nodeId: nodeKeyOf({ nodeId: node_id, instance }) });
}

/** The lease of a scan; null if it has none. */
export function leaseRefOf({
  organization_id,
  job_id,
  lease,
}: Pick<ScanInQueue, 'organization_id' | 'job_id' | 'lease'>): LeaseRef | null {
  return lease && { jobId: job_id, fence: lease.fence, organizationId: organization_id };
}
