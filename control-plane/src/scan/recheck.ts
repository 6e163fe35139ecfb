import { setImmediate } from 'node:timers/promises';
import type { CursorPosition } from '../http/page.ts';
import { changeScan } from './change-scan.ts';
import type { ScanRecord } from './scan.ts';
import type { ScanStore } from './scan-store.ts';

/** Which scans are checked again: the newest of those that have finished, or those that completed since a moment. */
export type RecheckScope = { newest: number } | { completedSince: Date };

export type RecheckParts = {
  scans: Pick<ScanStore, 'finishedBefore' | 'apply'>;
  /** Says that there are scans to check. */
  checksWaiting: () => void;
  /** Says that there is something in a scan's outbox. */
  outboxFilled: () => void;
};

/** Scans that are written at the same time: they share a sync of the disk. Other requests are answered between two batches. */
const WRITTEN_AT_ONCE = 50;

/**
 * Has the checks of an organization's finished scans run again over their stored evidence; answers how many scans that is. Those that are
 * being checked again already are left as they are. `id` is the request's own: repeated after an interruption, it counts what it has
 * queued before, and queues the rest.
 */
export async function recheckScans(
  { scans, checksWaiting, outboxFilled }: RecheckParts,
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
    const isQueued = await Promise.all(page.rows.map((scan) => queue(scans, scan, id)));
    queued += isQueued.filter(Boolean).length;
    left -= page.rows.length;
    after = page.last;
    checksWaiting();
    outboxFilled();
    await setImmediate();
  } while (after && left > 0);
  return queued;
}

async function queue(scans: Pick<ScanStore, 'apply'>, scan: ScanRecord, id: string): Promise<boolean> {
  if (scan.recheck?.id === id) return true;
  return (await changeScan(scans, scan, { type: 'recheck', id }, new Date())) !== null;
}
