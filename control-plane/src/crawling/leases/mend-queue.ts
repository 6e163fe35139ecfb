import type { Logger } from '@adsweep/shared/service/logger.ts';
import type { ScanRecord } from '../../scanning/scans/state/scan.ts';
import { enqueueScan } from '../queue/enqueue-scan.ts';
import type { CrawlQueue, LeaseRef } from '../queue/queue.ts';

/** What follows in Redis a change that MongoDB has already: when Redis is away, others make good for it later. */

/** Gives a pending scan its job again; while Redis is away that is left to the refill. */
export async function putBack(
  { queue, logger }: { queue: Pick<CrawlQueue, 'enqueue'>; logger: Logger },
  scan: ScanRecord,
  now: Date,
): Promise<void> {
  await enqueueScan(queue, scan, now).catch((cause: unknown) => {
    logger.debug({ scan_id: scan._id, cause }, 'a scan waits for the refill');
  });
}

/** Forgets the job of a lease that is over; what Redis misses, the reaper forgets. */
export async function forgetJob(
  { queue, logger }: { queue: Pick<CrawlQueue, 'end'>; logger: Logger },
  ref: LeaseRef,
): Promise<void> {
  await queue.end(ref).catch((cause: unknown) => {
    logger.debug({ scan_id: ref.scanId, cause }, 'a job is left to the reaper');
  });
}
