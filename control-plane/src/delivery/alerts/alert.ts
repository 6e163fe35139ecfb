import { derivedId } from '@adsweep/shared/ids.ts';
import type {
  AlertedScan,
  AlertStatus,
  Origin,
  OutboxEntry,
  OutboxFields,
  Violation,
} from '../../platform/outbox/outbox-entry.ts';
import { initialOutbox } from '../../platform/outbox/outbox-source.ts';
import { filterKeysOf } from './alert-filter.ts';

/**
 * An alert: a scan violated an entry of the policy set of its campaign. Names are kept as they were when it was raised.
 */
export type AlertRecord = OutboxFields &
  Violation &
  AlertedScan & {
    _id: string;
    organization_id: string;
    scan_id: string;
    status: AlertStatus;
    /** The key that resolved or dismissed it; null: it is not closed. */
    closed_by: string | null;
    /** The number of status changes. */
    sequence: number;
    created_at: Date;
    updated_at: Date | null;
    /** See `alert-filter.ts`. */
    filter_keys: string[];
  };

/** To which states an alert can change from each. */
const TRANSITIONS: Record<AlertStatus, readonly AlertStatus[]> = {
  open: ['escalated', 'resolved', 'dismissed'],
  escalated: ['resolved', 'dismissed'],
  resolved: ['open'],
  dismissed: ['open'],
};

/** Whether the status can change so; the same status again is no change. */
export const mayChange = (from: AlertStatus, to: AlertStatus): boolean => TRANSITIONS[from].includes(to);

const isClosed = (status: AlertStatus): boolean => status === 'resolved' || status === 'dismissed';

/** The one alert for a scan and an entry: its id follows from both. */
export const alertIdOf = (scanId: string, entryId: string): string => derivedId(`alert:${scanId}/${entryId}`, 0);

/** Characters of each URL in an alert: a scan has up to 500 alerts, and a URL up to 64 Ki characters. */
export const ALERT_URL_MAX = 2_048;
const cut = (url: string): string => url.slice(0, ALERT_URL_MAX).toWellFormed();

/** The alerts of an outbox entry, as they are when they are raised. */
export function newAlerts({ scan: whole, violations, at }: OutboxEntry<'alerts'>, origin: Origin): AlertRecord[] {
  const scan = { ...whole, scan_url: cut(whole.scan_url), offer_url: cut(whole.offer_url) };
  return violations.map((violation) => {
    const _id = alertIdOf(origin.scanId, violation.entry_id);
    return {
      _id,
      organization_id: origin.organizationId,
      scan_id: origin.scanId,
      ...scan,
      ...violation,
      status: 'open' as const,
      closed_by: null,
      sequence: 0,
      created_at: at,
      updated_at: null,
      filter_keys: filterKeysOf({ ...scan, ...violation }),
      ...initialOutbox(origin.organizationId, [changedEntry({ _id, status: 'open', sequence: 0 }, at)]),
    };
  });
}

/** A change of status: what is written, and the outbox entry that follows it. */
export function statusChange(
  { _id, sequence }: Pick<AlertRecord, '_id' | 'sequence'>,
  status: AlertStatus,
  keyId: string,
  now: Date,
) {
  const set = { status, closed_by: isClosed(status) ? keyId : null, sequence: sequence + 1, updated_at: now };
  return { set, follows: [changedEntry({ _id, status, sequence: sequence + 1 }, now)] };
}

function changedEntry(
  { _id, status, sequence }: Pick<AlertRecord, '_id' | 'status' | 'sequence'>,
  at: Date,
): OutboxEntry<'alert.changed'> {
  return { id: `alert.changed:${_id}:${sequence}`, kind: 'alert.changed', at, alert_id: _id, status, sequence };
}
