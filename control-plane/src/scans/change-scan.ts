import type { OutboxEntry } from '../outbox/outbox-entry.ts';
import { advance, type ScanEvent } from './advance.ts';
import type { FarmScans } from './farm-scans.ts';
import type { ScanRecord } from './scan.ts';

/**
 * Writes what `event` does to `scan` as one compare-and-set, with what `follows` it. Answers the scan as it then stands, or null
 * where the event means nothing in this state or someone was faster.
 */
export async function changeScan(
  scans: Pick<FarmScans, 'apply'>,
  scan: ScanRecord,
  event: ScanEvent,
  now: Date,
  follows: OutboxEntry[] = [],
): Promise<ScanRecord | null> {
  const change = advance(scan, event, now);
  return change && scans.apply(scan._id, change, follows);
}
