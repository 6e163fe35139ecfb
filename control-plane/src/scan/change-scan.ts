import { type EmittedEvent, inSequence } from '../platform/outbox/outbox-entry.ts';
import { advance, type ScanChange, type ScanEvent } from './advance.ts';
import type { ScanRecord } from './scan.ts';
import type { ScanStore } from './scan-store.ts';

/**
 * Writes what `event` does to `scan` as one compare-and-set, together with the `events` that tell clients of it. Answers the scan as
 * it then stands, or null where the event means nothing in this state or someone was faster.
 */
export async function changeScan(
  scans: Pick<ScanStore, 'apply'>,
  scan: ScanRecord,
  event: ScanEvent,
  now: Date,
  events: EmittedEvent[] = [],
): Promise<ScanRecord | null> {
  const change = advance(scan, event, now);
  return change && scans.apply(scan, withEvents(inNextStatus(change, scan, now), scan.event_sequence, events));
}

/** Statuses are numbered, so that a receiver of several knows their order. */
function inNextStatus(change: ScanChange, { status, status_sequence = 0 }: ScanRecord, now: Date): ScanChange {
  if (change.set.status === undefined || change.set.status === status) return change;
  return { ...change, set: { ...change.set, status_at: now, status_sequence: status_sequence + 1 } };
}

/** Two changes that both emit events cannot take the same numbers: the sequence is compared as well. */
function withEvents(change: ScanChange, last: number, events: EmittedEvent[]): ScanChange {
  if (events.length === 0) return change;
  return {
    when: { ...change.when, event_sequence: last },
    set: { ...change.set, event_sequence: last + events.length },
    follows: [...change.follows, ...inSequence(events, last)],
  };
}
