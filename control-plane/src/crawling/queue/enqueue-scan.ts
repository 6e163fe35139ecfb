import type { ScanInQueue } from '../../scanning/scans/state/scan.ts';
import type { Band } from './keys.ts';
import type { CrawlQueue } from './queue.ts';

/** The queue a scan waits in: people wait for single scans, nobody sits before a campaign's. */
export function bandOf({ band, campaign_id }: Pick<ScanInQueue, 'band' | 'campaign_id'>): Band {
  return band ?? (campaign_id === null ? 0 : 1);
}

/**
 * Gives a pending scan its crawl job, kept back until it is due; false where it has one. Rejects while Redis is away: nothing is lost
 * then, the refill makes good for it.
 */
export async function enqueueScan(
  queue: Pick<CrawlQueue, 'enqueue'>,
  scan: Omit<ScanInQueue, 'lease'>,
  now: Date,
): Promise<boolean> {
  const delayMs = scan.due_at.getTime() - now.getTime();
  return queue.enqueue({ scanId: scan._id, organizationId: scan.organization_id, band: bandOf(scan), delayMs });
}
