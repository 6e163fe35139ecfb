import { setImmediate } from 'node:timers/promises';
import { inTurns } from '@adsweep/shared/service/time-slice.ts';
import type { CursorPosition } from '../http/page.ts';
import { changeScan } from './change-scan.ts';
import type { ScanRecord } from './scan.ts';
import type { ScanStore } from './scan-store.ts';

/** The scans to recheck: the newest finished ones, or those that completed since a time. */
export type RecheckScope = { newest: number } | { completedSince: Date };

export type RecheckParts = {
  scans: Pick<ScanStore, 'finishedBefore' | 'apply'>;
  /** Called when scans wait for analysis. */
  analysisWaiting: () => void;
  /** Called when entries were added to the outbox of a scan. */
  outboxFilled: () => void;
};

/** Scans that are written concurrently, so that they share a sync of the disk. Other requests are served between two batches. */
const WRITTEN_AT_ONCE = 50;

/**
 * Queues finished scans of an organization for a new analysis of their stored evidence, and returns their number. Scans whose recheck is
 * already running are skipped. `id` identifies the request: repeated after an interruption, it queues the rest and counts all.
 */
export async function recheckScans(
  { scans, analysisWaiting, outboxFilled }: RecheckParts,
  organizationId: string,
  scope: RecheckScope,
  id: string,
): Promise<number> {
  let queued = 0;
  let left = 'newest' in scope ? scope.newest : Number.POSITIVE_INFINITY;
  let after: CursorPosition | null = null;
  do {
    const limit = Math.min(left, WRITTEN_AT_ONCE);
    const completedSince = 'newest' in scope ? null : scope.completedSince;
    const page = await scans.finishedBefore(organizationId, { completedSince, after, limit });
    const isQueued = await inTurns(page.rows, (scan) => queue(scans, scan, id));
    queued += isQueued.filter(Boolean).length;
    left -= page.rows.length;
    after = page.last;
    analysisWaiting();
    outboxFilled();
    await setImmediate();
  } while (after && left > 0);
  return queued;
}

/** Queues one scan in the same way; false if it is not finished, is being rechecked, or has no evidence any more. */
export async function recheckScan(
  { scans, analysisWaiting, outboxFilled }: { scans: Pick<ScanStore, 'apply'> } & Omit<RecheckParts, 'scans'>,
  scan: ScanRecord,
  id: string,
): Promise<boolean> {
  const isQueued = await queue(scans, scan, id);
  if (isQueued) {
    analysisWaiting();
    outboxFilled();
  }
  return isQueued;
}

async function queue(scans: Pick<ScanStore, 'apply'>, scan: ScanRecord, id: string): Promise<boolean> {
  if (scan.recheck?.id === id) return true;
  return (await changeScan(scans, scan, { type: 'recheck', id }, new Date())) !== null;
}
