import { isFinal } from '@adsweep/shared/scan/scan-status.ts';
import { type EmittedEvent, inSequence } from '../platform/outbox/outbox-entry.ts';
import { advance, claimChecks, type ScanChange, type ScanEvent, takeLease } from './advance.ts';
import type { ScanInQueue, ScanLease, ScanRecord, ScanToClaim } from './scan.ts';
import type { ScanStore } from './scan-store.ts';
import { traceChange, traceWait } from './trace-scan.ts';

/**
 * Applies `event` to `scan` as one compare-and-set, together with the `events` for clients. Returns the changed scan,
 * or null if the event does not apply in this state or another process changed the scan first.
 */
export async function changeScan(
  scans: Pick<ScanStore, 'apply'>,
  scan: ScanRecord,
  event: ScanEvent,
  now: Date,
  events: EmittedEvent[] = [],
): Promise<ScanRecord | null> {
  const change = advance(scan, event, now);
  if (!change) return null;
  const at = notBefore(scan, now);
  const changed = await scans.apply(
    scan,
    withEvents(withStatusTime(change, scan, at), scan.event_sequence, events, at),
  );
  if (changed) traceChange(scan, event, changed, now);
  return changed;
}

/**
 * Applies the event `lease` to a scan of which only the fields of the queue were read. Returns the leased scan, or null
 * if the event does not apply or another process changed the scan since.
 */
export async function leaseScan(
  scans: Pick<ScanStore, 'applyClaim'>,
  scan: ScanInQueue,
  lease: ScanLease,
): Promise<ScanRecord | null> {
  const change = takeLease(scan, lease, lease.leased_at);
  const at = notBefore(scan, lease.leased_at);
  const leased = change && (await scans.applyClaim(scan, unchanged(withStatusTime(change, scan, at), scan)));
  if (leased) traceWait(leased, lease);
  return leased;
}

/** The same for the event `claim_checks`, until `until`. */
export async function claimScan(
  scans: Pick<ScanStore, 'applyClaim'>,
  scan: ScanToClaim,
  until: Date,
  now: Date,
): Promise<ScanRecord | null> {
  const change = claimChecks(scan, until, now);
  return change && scans.applyClaim(scan, unchanged(withStatusTime(change, scan, notBefore(scan, now)), scan));
}

/** The change of a scan whose status has not changed since it was read. */
const unchanged = (
  { when, ...others }: ScanChange,
  { status_sequence }: Pick<ScanRecord, 'status_sequence'>,
): ScanChange => ({
  ...others,
  when: { ...when, status_sequence: status_sequence ?? { $exists: false } },
});

/**
 * `now`, or the time of the scan's status if that is later: the clock of the process that wrote it may be ahead. The
 * times of a scan's statuses, and of its events, have the order in which they occurred.
 */
const notBefore = ({ status_at }: Pick<ScanRecord, 'status_at'>, now: Date): Date =>
  status_at && status_at > now ? status_at : now;

/**
 * Adds the time and the number of a status change, so that receivers of several changes know their order, and the
 * outcome of a run's scan.
 */
function withStatusTime(
  change: ScanChange,
  scan: Pick<ScanRecord, 'status' | 'status_sequence' | 'run_id'>,
  at: Date,
): ScanChange {
  const { status, status_sequence = 0, run_id } = scan;
  if (change.set.status === undefined || change.set.status === status) return change;
  const ended = run_id !== null && isFinal(change.set.status) ? { final_status: change.set.status } : {};
  return { ...change, set: { ...change.set, ...ended, status_at: at, status_sequence: status_sequence + 1 } };
}

/** Adds events. The event sequence is compared too, so that concurrent changes cannot use the same numbers. */
function withEvents(change: ScanChange, last: number, events: EmittedEvent[], at: Date): ScanChange {
  if (events.length === 0) return change;
  return {
    when: { ...change.when, event_sequence: last },
    set: { ...change.set, event_sequence: last + events.length },
    follows: [...change.follows, ...inSequence(events, last, at)],
  };
}
