import type { ScanInQueue } from '../../scanning/scans/state/scan.ts';
import type { Band } from './keys.ts';
import type { CrawlQueue } from './queue.ts';

/** The queue a scan waits in: people wait for single scans, nobody sits before a campaign's. */
export function bandOf({ band, campaign_id }: Pick<ScanInQueue, 'band' | 'campaign_id'>): Band {
  return band ?? (campaign_id === null ? 0 : 1);
}

/**
 * Queues the crawl job of a pending scan, kept back until the scan is due; false where the job is queued or leased already. Rejects while
 * Redis is away: nothing is lost then, the refill queues it later.
 */
export async function enqueueJob(
  queue: Pick<CrawlQueue, 'enqueue'>,
  scan: Pick<ScanInQueue, 'organization_id' | 'job_id' | 'band' | 'campaign_id' | 'due_at'>,
  now: Date,
): Promise<boolean> {
  const delayMs = scan.due_at.getTime() - now.getTime();
  return queue.enqueue({ jobId: scan.job_id, organizationId: scan.organization_id, band: bandOf(scan), delayMs });
}
