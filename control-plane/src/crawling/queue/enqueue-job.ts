import type { ScanInQueue } from '../../scan/scan.ts';
import type { Band } from './keys.ts';
import type { CrawlQueue } from './queue.ts';
import type { WaitingJob } from './queued-job.ts';

type QueuedScan = Pick<ScanInQueue, 'organization_id' | 'job_id' | 'band' | 'campaign_id' | 'due_at'>;

/** The queue a scan waits in: people wait for single scans, nobody sits before a campaign's. */
export function bandOf({ band, campaign_id }: Pick<ScanInQueue, 'band' | 'campaign_id'>): Band {
  return campaign_id !== null ? 2 : (band ?? 0);
}

/** The longest that a retry waits, in ms. */
export const RETRY_WAIT_MAX_MS = 60_000;

/** The place in the queue of a pending scan's crawl job: kept back until the scan is due, before those that are due later. */
export function waitingJobOf(scan: QueuedScan, now: Date): WaitingJob {
  // Another control plane, whose clock is ahead of ours, may have said when it is due.
  const delayMs = Math.min(scan.due_at.getTime() - now.getTime(), RETRY_WAIT_MAX_MS);
  return { jobId: scan.job_id, organizationId: scan.organization_id, band: bandOf(scan), delayMs };
}

/**
 * Queues the crawl job of a pending scan; false where the job is queued or leased already. Rejects while Redis is away: nothing is lost
 * then, the refill queues it later.
 */
export async function enqueueJob(queue: Pick<CrawlQueue, 'enqueue'>, scan: QueuedScan, now: Date): Promise<boolean> {
  return queue.enqueue(waitingJobOf(scan, now));
}
