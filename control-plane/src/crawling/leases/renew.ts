import { LEASE_MS, type Renewed } from '@adsweep/shared/lease/messages.ts';
import { runsUnder } from '../../scan/advance.ts';
import type { ScanInQueue } from '../../scan/scan.ts';
import { leaseHolderOf } from '../fleet/credentials.ts';
import type { CrawlQueue } from '../queue/queue.ts';
import type { LeaseRef } from '../queue/queue-shards.ts';
import { priorityClassOf } from '../queue/waiting-jobs.ts';
import { type CloseDependencies, closeLease } from './close-lease.ts';
import { lifetimeMs, SHORTEST_LIFETIME_MS } from './lease-lifetime.ts';
import { endLost, type LossDependencies } from './reaper.ts';

export type RenewDependencies = LossDependencies & {
  queue: LossDependencies['queue'] & Pick<CrawlQueue, 'renew' | 'adopt'>;
};

/**
 * Renews a lease. If Redis has no such lease or is unavailable, the job's members in MongoDB decide: a lease that one
 * of them names is adopted. This is safe, because no lease is reaped while Redis is unavailable. A lease that is older
 * than its attempts may take is ended as if its node had been lost, however often it is renewed.
 */
export async function renew(dependencies: RenewDependencies, ref: LeaseRef): Promise<Renewed> {
  const { queue, scans, logger } = dependencies;
  const ageMs = await queue.renew(ref).catch((cause: unknown) => {
    logger.debug({ job_id: ref.jobId, cause }, 'a lease is renewed without Redis');
    return null;
  });
  if (ageMs !== null && ageMs < SHORTEST_LIFETIME_MS) return RENEWED;
  const members = await scans.membersOf(ref);
  const running = members.find((member) => runsUnder(member, ref.fence));
  if (!running) {
    const isCancelled = members.every(({ status }) => status === 'cancelled');
    return { outcome: isCancelled ? 'cancelled' : 'lost', expires_in_ms: 0 };
  }
  if (ageMs !== null && ageMs > lifetimeMs(members, ref.fence)) {
    await endLost(dependencies, ref, `the node still renewed its lease after ${ageMs} ms`, new Date());
    return { outcome: 'lost', expires_in_ms: 0 };
  }
  if (ageMs === null)
    await adoptLease(dependencies, ref, running).catch((cause: unknown) => {
      logger.debug({ job_id: ref.jobId, cause }, 'a lease could not be adopted');
    });
  return RENEWED;
}

const RENEWED: Renewed = { outcome: 'renewed', expires_in_ms: LEASE_MS };

export type AdoptDependencies = CloseDependencies & { queue: Pick<CrawlQueue, 'adopt'> };

/**
 * Writes the lease of a scan that was running when it was read to Redis, for its full duration, unless it is there
 * already.
 */
export async function adoptLease(dependencies: AdoptDependencies, ref: LeaseRef, scan: ScanInQueue): Promise<void> {
  const { node_id: nodeId = '', instance = '', enrolment = '' } = scan.lease ?? {};
  const holder = { priority: priorityClassOf(scan), nodeId: leaseHolderOf({ nodeId, instance, enrolment }) };
  // If the attempt has ended since the scan was read, nothing else would end this lease before its deadline.
  if (await dependencies.queue.adopt(ref, holder)) await closeLease(dependencies, ref, new Date());
}

/** The lease of a scan; null if it has none. */
export function leaseRefOf({
  organization_id,
  job_id,
  lease,
}: Pick<ScanInQueue, 'organization_id' | 'job_id' | 'lease'>): LeaseRef | null {
  return lease && { jobId: job_id, fence: lease.fence, organizationId: organization_id };
}
