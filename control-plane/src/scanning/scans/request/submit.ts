import type { Logger } from '@adsweep/shared/service/logger.ts';
import type { Catalogue } from '@adsweep/shared/targeting/catalogue.ts';
import type { ScanRecord } from '../state/scan.ts';
import type { ScanStore } from '../state/scan-store.ts';
import { newScan, type SubmitOptions } from './new-scan.ts';
import type { ScanIn } from './scan-in.ts';

/** Puts a scan's crawl job into the index of work. */
export type Enqueue = (scan: ScanRecord) => Promise<void>;

export type SubmitParts = {
  scans: Pick<ScanStore, 'insertUnlessThere'>;
  enqueue: Enqueue;
  submitted: () => void;
  outboxFilled: () => void;
  log: Logger;
};

/**
 * Takes a scan that passed its checks: one write holds the scan and its charge, and then it is acknowledged. The index of work is told
 * without waiting for it: while that is away, the refill puts the scan there later. A scan whose id is there already is answered as it
 * is: the request that made it was interrupted.
 */
export async function submit(
  { scans, enqueue, submitted, outboxFilled, log }: SubmitParts,
  request: ScanIn,
  catalogue: Catalogue,
  options: SubmitOptions,
  now: Date,
): Promise<ScanRecord> {
  const scan = newScan(request, catalogue, options, now);
  const earlier = await scans.insertUnlessThere(scan);
  if (earlier) return earlier;
  submitted();
  outboxFilled();
  enqueue(scan).catch((cause: unknown) => {
    log.info({ scan_id: scan._id, cause }, 'a new scan is not in the index of work yet');
  });
  return scan;
}
