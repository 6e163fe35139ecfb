import { setTimeout as pause } from 'node:timers/promises';
import { exitSession, signedExitSession } from '@adsweep/shared/lease/exit-session.ts';
import { JOB_LIMITS } from '@adsweep/shared/lease/job-limits.ts';
import { type Acquire, LEASE_MS, type Lease } from '@adsweep/shared/lease/messages.ts';
import type { Logger } from '@adsweep/shared/service/logger.ts';
import { changeScan, leaseScan } from '../../scan/change-scan.ts';
import type { ScanInQueue, ScanLease, ScanRecord } from '../../scan/scan.ts';
import type { ScanStore } from '../../scan/scan-store.ts';
import { leaseHolderOf, leaseIdOf, leaseToken, type NodeIdentity } from '../fleet/credentials.ts';
import type { CrawlQueue } from '../queue/queue.ts';
import type { LeaseRef } from '../queue/queue-shards.ts';
import { closeLease } from './close-lease.ts';
import { chooseMembers, crawlJobOf, isWholeGroup } from './job-members.ts';

export type AcquireDependencies = {
  queue: Pick<CrawlQueue, 'takeOrFull' | 'end' | 'enqueue' | 'waitForWork'>;
  scans: Pick<ScanStore, 'membersOf' | 'withTarget' | 'applyClaim' | 'apply'>;
  leaseSecret: string;
  /** Signs the exit sessions of enrolled nodes. */
  routerSecret: string;
  logger: Logger;
};

/**
 * How often a node looks that has as many leases as it may have, in ms: it may have more when one of them runs out, or
 * its pause ends.
 */
const FULL_POLL_MS = 2_000;

/** A node's request for work. */
export type WorkRequest = Pick<Acquire, 'max' | 'wait_ms'> & { node: NodeIdentity };

/**
 * Leases up to `max` jobs to a node, at most as many as it has free slots. Waits up to `wait_ms` for the first (long
 * poll); `gone` ends the wait. Returns none if no job arrived. If the queue is unavailable, it throws
 * {@link QueueUnavailable} at the end of the wait, so that nodes do not retry before the long poll ends.
 */
export async function acquire(
  dependencies: AcquireDependencies,
  { node, max, wait_ms }: WorkRequest,
  gone: AbortSignal,
): Promise<Lease[]> {
  const { queue } = dependencies;
  const deadline = performance.now() + wait_ms;
  for (;;) {
    const taken = await queue
      .takeOrFull(leaseHolderOf(node), max, node.slots)
      .catch((error: unknown) => new QueueUnavailable(error));
    const refs = taken === null || taken instanceof QueueUnavailable ? [] : taken;
    const leases = await grantAll(dependencies, refs, node);
    if (leases.length > 0 || gone.aborted) return leases;
    const left = deadline - performance.now();
    if (left <= 0 && taken instanceof QueueUnavailable) throw taken;
    if (left <= 0) return [];
    // A hint wakes one waiting node: one that may have nothing would use it up.
    if (taken === null) await pause(Math.min(left, FULL_POLL_MS), undefined, { signal: gone }).catch(() => undefined);
    else if (refs.length === 0) await queue.waitForWork(left, gone);
  }
}

/** The queue did not answer. */
export class QueueUnavailable extends Error {
  constructor(cause: unknown) {
    super('the queue does not answer', { cause });
  }
}

/**
 * Grants leases for the jobs that were taken. One that fails, such as for a scan that cannot be read, is left to the
 * reaper, and the node gets the others. Throws if it gets none.
 */
async function grantAll(dependencies: AcquireDependencies, taken: LeaseRef[], node: NodeIdentity): Promise<Lease[]> {
  const grants = await Promise.allSettled(taken.map((ref) => grant(dependencies, ref, node)));
  const leases = grants.flatMap((one) => (one.status === 'fulfilled' && one.value ? [one.value] : []));
  for (const [index, one] of grants.entries()) {
    if (one.status === 'fulfilled') continue;
    if (leases.length === 0) throw one.reason;
    dependencies.logger.error({ job_id: taken[index]!.jobId, cause: one.reason }, 'a job could not be leased');
  }
  return leases;
}

/** Leases the members of a job that was taken from the queue; null if none can be leased, after closing the lease. */
async function grant(dependencies: AcquireDependencies, ref: LeaseRef, node: NodeIdentity): Promise<Lease | null> {
  const { scans, leaseSecret } = dependencies;
  const now = new Date();
  const { nodeId: node_id, instance, enrolment } = node;
  const lease = { fence: ref.fence, node_id, instance, ...(enrolment && { enrolment }), leased_at: now };
  const all = await scans.membersOf(ref);
  const { isolation, chosen } = chooseMembers(all, ref.fence);
  const taken = await Promise.all(chosen.map((member) => leaseMember(scans, member, lease)));
  const leased = taken.filter((member) => member !== null);
  const isShared = isWholeGroup(all, new Set(leased.map(({ _id }) => _id)));
  const members = isShared ? leased : await Promise.all(leased.map((member) => leaveSession(scans, member, lease)));
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
    job: crawlJobOf(ref, first.job_kind, isolation, members, exitSessionOf(dependencies, ref, node, members)),
  };
}

/** The exit session of a lease; that of an enrolled node is bound to what the lease needs. */
function exitSessionOf(
  { routerSecret }: Pick<AcquireDependencies, 'routerSecret'>,
  ref: LeaseRef,
  { nodeId, enrolment }: NodeIdentity,
  members: ScanRecord[],
): string {
  if (enrolment === '') return exitSession(ref);
  const added = Math.max(...members.map(({ job_kind }) => JOB_LIMITS[job_kind].added_members));
  return signedExitSession(routerSecret, ref, nodeId, members.length + added);
}

/**
 * A repeat that runs without others of its group does not have their session; a scan without a session stays as it is.
 */
async function leaveSession(
  scans: Pick<ScanStore, 'apply'>,
  member: ScanRecord,
  { fence, leased_at }: ScanLease,
): Promise<ScanRecord> {
  if (!member.repeat?.session_id) return member;
  const changed = await changeScan(scans, member, { type: 'leave_session', fence }, leased_at);
  return changed ? { ...changed, target: member.target } : member;
}

/** Leases a member and returns it with its whole target; null if it was cancelled or changed in the meantime. */
async function leaseMember(
  scans: AcquireDependencies['scans'],
  member: ScanInQueue,
  lease: ScanLease,
): Promise<ScanRecord | null> {
  const leased = await leaseScan(scans, member, lease);
  return leased && scans.withTarget(leased);
}
