import type { Logger } from '@adsweep/shared/service/logger.ts';
import { changeScan } from './change-scan.ts';
import type { ScanRecord } from './scan.ts';
import type { ScanStore } from './scan-store.ts';

export type CancelParts = {
  scans: Pick<ScanStore, 'apply'>;
  unqueue: (scan: ScanRecord) => Promise<void>;
  /** Called when a scan's outbox was filled. */
  outboxFilled: () => void;
  log: Logger;
};

/**
 * Cancels a pending scan and gives back its charge; false where it is not pending (any more). Its crawl job is taken out of the index
 * without waiting for it: until then the job can be leased, but it has no member to run.
 */
export async function cancelScan(
  { scans, unqueue, outboxFilled, log }: CancelParts,
  scan: ScanRecord,
  now: Date,
): Promise<boolean> {
  const cancelled = await changeScan(scans, scan, { type: 'cancel' }, now);
  if (!cancelled) return false;
  outboxFilled();
  unqueue(cancelled).catch((cause: unknown) => {
    log.info({ scan_id: scan._id, cause }, 'a cancelled scan is still in the index of work');
  });
  return true;
}
