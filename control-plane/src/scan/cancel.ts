import type { Logger } from '@adsweep/shared/service/logger.ts';
import { changeScan } from './change-scan.ts';
import type { ScanRecord } from './scan.ts';
import type { ScanStore } from './scan-store.ts';

export type CancelParts = {
  scans: Pick<ScanStore, 'apply'>;
  unqueue: (scan: ScanRecord) => Promise<void>;
  /** Called when entries were added to the outbox of a scan. */
  outboxFilled: () => void;
  log: Logger;
};

/**
 * Cancels a pending scan and refunds it; false if it is not pending. Removes its crawl job from the queue without waiting for the removal:
 * until then the job can be leased, but has no member to run.
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
    log.info({ scan_id: scan._id, cause }, 'could not remove a cancelled scan from the queue');
  });
  return true;
}
