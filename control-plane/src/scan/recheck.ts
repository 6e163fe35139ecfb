import { setImmediate } from 'node:timers/promises';
import { inTurns } from '@adsweep/shared/service/time-slice.ts';
import type { StoredPerDay } from '../accounts/stored-per-day.ts';
import { ApiError } from '../http/api-error.ts';
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
  /** What the organization may store in a day; `take` throws 429 if it is used up. */
  storedPerDay: Pick<StoredPerDay, 'take'>;
};

/**
 * Scans that are written concurrently, so that they share a sync of the disk. Other requests are served between two
 * batches.
 */
const WRITTEN_AT_ONCE = 50;

/**
 * Queues finished scans of an organization for a new analysis of their stored evidence, and returns their number. Scans
 * whose recheck is already running are skipped. `id` identifies the request: repeated after an interruption, it queues
 * the rest and counts all. Throws 429 `storage.quota_exhausted` where the organization may recheck no more scans today;
 * those before are queued, and the request is partly done.
 */
export async function recheckScans(
  parts: RecheckParts,
  organizationId: string,
  scope: RecheckScope,
  id: string,
): Promise<number> {
  const { scans, analysisWaiting, outboxFilled } = parts;
  let queued = 0;
  let left = 'newest' in scope ? scope.newest : Number.POSITIVE_INFINITY;
  let after: CursorPosition | null = null;
  do {
    const limit = Math.min(left, WRITTEN_AT_ONCE);
    const completedSince = 'newest' in scope ? null : scope.completedSince;
    const page = await scans.finishedBefore(organizationId, { completedSince, after, limit });
    try {
      queued += await queueAll(parts, organizationId, page.rows, id);
    } catch (error) {
      if (error instanceof ApiError) error.isPartlyDone = queued > 0;
      throw error;
    }
    left -= page.rows.length;
    after = page.last;
    analysisWaiting();
    outboxFilled();
    await setImmediate();
  } while (after && left > 0);
  return queued;
}

type QueueParts = { scans: Pick<ScanStore, 'apply'> } & Omit<RecheckParts, 'scans'>;

/** Queues one scan in the same way; 0 if it is not finished, is being rechecked, or has no evidence any more. */
export async function recheckScan(parts: QueueParts, scan: ScanRecord, id: string): Promise<number> {
  const queued = await queueAll(parts, scan.organization_id, [scan], id);
  if (queued > 0) {
    parts.analysisWaiting();
    parts.outboxFilled();
  }
  return queued;
}

/**
 * Queues those of an organization's scans that can be rechecked; returns how many this request has queued, now and
 * before.
 */
async function queueAll(
  { scans, storedPerDay }: Pick<QueueParts, 'scans' | 'storedPerDay'>,
  organizationId: string,
  some: ScanRecord[],
  id: string,
): Promise<number> {
  const others = some.filter(({ recheck }) => recheck?.id !== id);
  const giveBack = await storedPerDay.take(organizationId, 'rechecks', others.length);
  const changed = await inTurns(others, (scan) => changeScan(scans, scan, { type: 'recheck', id }, new Date()));
  const unchanged = changed.filter((scan) => scan === null).length;
  giveBack(unchanged);
  return some.length - unchanged;
}
