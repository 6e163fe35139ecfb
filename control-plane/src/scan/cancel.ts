import type { Logger } from '@adsweep/shared/service/logger.ts';
import { advance } from './advance.ts';
import { changeScan } from './change-scan.ts';
import type { ScanRecord } from './scan.ts';
import type { ScanStore } from './scan-store.ts';

export type CancelParts = {
  scans: Pick<ScanStore, 'find' | 'apply'>;
  unqueue: (scan: ScanRecord) => Promise<void>;
  /** Called when entries were added to the outbox of a scan. */
  outboxFilled: () => void;
  log: Logger;
};

const CANCEL = { type: 'cancel' } as const;

/**
 * Cancels a pending scan, unless it belongs to a sweep that has found ads, and refunds it unless an attempt has loaded
 * its target. `scan` may have changed since it was read: if it is pending again after an attempt, it is cancelled as it
 * is now. Returns the cancelled scan; null: it is not pending. Removes its crawl job from the queue without waiting for
 * the removal: until then the job can be leased, but has no member to run.
 */
export async function cancelScan(
  { scans, unqueue, outboxFilled, log }: CancelParts,
  scan: ScanRecord,
  now: Date,
): Promise<ScanRecord | null> {
  for (let found: ScanRecord | null = scan; found; found = await scans.find(scan.organization_id, scan._id)) {
    if (!advance(found, CANCEL, now)) return null;
    const cancelled = await changeScan(scans, found, CANCEL, now);
    if (!cancelled) continue;
    outboxFilled();
    unqueue(cancelled).catch((cause: unknown) => {
      log.info({ scan_id: scan._id, cause }, 'could not remove a cancelled scan from the queue');
    });
    return cancelled;
  }
  return null;
}
