import type { Logger } from '@adsweep/shared/service/logger.ts';
import type { InternalScans } from '../../scan/internal-scans.ts';
import type { ScanRecord } from '../../scan/scan.ts';
import { enqueueJob } from '../queue/enqueue-job.ts';
import type { CrawlQueue } from '../queue/queue.ts';
import type { LeaseRef } from '../queue/queued-job.ts';
import { runsUnder } from './choose-members.ts';

export type SettleDependencies = {
  queue: Pick<CrawlQueue, 'end' | 'enqueue'>;
  scans: Pick<InternalScans, 'membersOf'>;
  logger: Logger;
};

/**
 * What follows in the queue when members of a lease have ended: once none runs under it any more, the job leaves the queue, or is queued
 * again for the members that wait, as soon as the first of them is due. While Redis is away this is left to the reaper and the refill.
 */
export async function settleJob({ queue, scans, logger }: SettleDependencies, ref: LeaseRef, now: Date): Promise<void> {
  const members = await scans.membersOf(ref);
  if (members.some((member) => runsUnder(member, ref.fence))) return;
  const waiting = members.filter(({ status }) => status === 'pending');
  const [next] = waiting.toSorted((a, b) => a.due_at.getTime() - b.due_at.getTime());
  // Where another lease has a member, the job is queued again when that one ends.
  const isLeased = members.some(({ status }) => status === 'running');
  try {
    await queue.end(ref);
    if (next && !isLeased) await enqueueJob(queue, next, now);
  } catch (cause) {
    logger.debug({ job_id: ref.jobId, cause }, 'a job is left to the reaper and the refill');
  }
}

/** Takes the job of a scan that nobody wants any more out of the queue, unless another member waits in it. */
export async function unqueue(
  { queue, scans }: { queue: Pick<CrawlQueue, 'drop'>; scans: Pick<InternalScans, 'membersOf'> },
  { _id, organization_id, job_id }: Pick<ScanRecord, '_id' | 'organization_id' | 'job_id'>,
): Promise<void> {
  const members = await scans.membersOf({ organizationId: organization_id, jobId: job_id });
  const others = members.filter((member) => member._id !== _id && member.status === 'pending');
  if (others.length === 0) await queue.drop(organization_id, job_id);
}
