import type { Logger } from '@adsweep/shared/service/logger.ts';
import { runsUnder } from '../../scan/advance.ts';
import type { ScanInQueue, ScanRecord } from '../../scan/scan.ts';
import type { ScanStore } from '../../scan/scan-store.ts';
import type { CrawlQueue } from '../queue/queue.ts';
import type { LeaseRef } from '../queue/queue-shards.ts';
import { waitingJobOf } from '../queue/waiting-jobs.ts';

export type CloseDependencies = {
  queue: Pick<CrawlQueue, 'end' | 'enqueue'>;
  scans: Pick<ScanStore, 'membersOf'>;
  logger: Logger;
};

/**
 * Removes a leased job from the queue once no member runs under the lease, and queues it again if members are pending,
 * due when the first of them is. Does nothing while a member still runs. `open`: the members that are known to be open;
 * null: they are read. `isReleased`: the node gave the job back. If Redis is unavailable, the reaper and the refill do
 * this later.
 */
export async function closeLease(
  { queue, scans, logger }: CloseDependencies,
  ref: LeaseRef,
  now: Date,
  { open = null, isReleased = false }: { open?: ScanInQueue[] | null; isReleased?: boolean } = {},
): Promise<void> {
  const members = open ?? (await scans.membersOf(ref));
  if (members.some((member) => runsUnder(member, ref.fence))) return;
  const pending = members.filter(({ status }) => status === 'pending');
  const [next] = pending.toSorted((a, b) => a.due_at.getTime() - b.due_at.getTime());
  // If another lease runs a member, the job is queued again when that lease is closed.
  const isLeased = members.some(({ status }) => status === 'running');
  try {
    await queue.end(ref, isReleased);
    if (next && !isLeased) await queue.enqueue(waitingJobOf(next, now));
  } catch (cause) {
    logger.debug({ job_id: ref.jobId, cause }, 'a job is left to the reaper and the refill');
  }
}

/** Removes the job of a cancelled scan from the queue, unless another member of it is pending. */
export async function unqueue(
  { queue, scans }: { queue: Pick<CrawlQueue, 'drop'>; scans: Pick<ScanStore, 'membersOf'> },
  { _id, organization_id, job_id }: Pick<ScanRecord, '_id' | 'organization_id' | 'job_id'>,
): Promise<void> {
  const members = await scans.membersOf({ organizationId: organization_id, jobId: job_id });
  const others = members.filter((member) => member._id !== _id && member.status === 'pending');
  if (others.length === 0) await queue.drop(organization_id, job_id);
}
