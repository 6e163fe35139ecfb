import type { EventContent, EventKind, EventPayload } from '@adsweep/shared/events/event-kinds.ts';
import { newId } from '@adsweep/shared/ids.ts';
import type { UsageKind } from '@adsweep/shared/scan/usage-kind.ts';

type CheckCost = {
  amount_micros: number;
  target_kind?: UsageKind;
  /** When the check was counted. */
  charged_at?: Date;
};

/** What a scan violates of the policy set of its campaign; names as they were when the scan finished. */
export type Violation = {
  entry_id: string;
  rule_type: 'tag' | 'iab_v3' | 'brand' | 'ai_category' | 'custom_taxonomy';
  /** The slug of the tag; for other kinds the key of the entry, such as `brand:Acme`. */
  tag_slug: string;
  tag_display_name: string;
  /** The severity of the tag; null for the other kinds. */
  severity: 'high' | 'medium' | 'low' | null;
  /** What the entry matched; null for tags. */
  matched_value: string | null;
};

/** The scan behind alerts, with what a message about them needs. */
export type AlertedScan = {
  policy_set_id: string;
  policy_set_name: string;
  campaign_id: string;
  country_code: string;
  emulator_id: string;
  labels: Record<string, string>;
  /** The target if it is a URL, else ''. */
  scan_url: string;
  offer_url: string;
  report_token: string;
};

export const ALERT_STATUSES = ['open', 'escalated', 'resolved', 'dismissed'] as const;
export type AlertStatus = (typeof ALERT_STATUSES)[number];

/** The content of each kind of entry. To add a kind, add a line here; the type checker then requires its handler. */
type EntryKinds = {
  /**
   * A charge or a refund of a check; the amount is never negative. Earlier versions did not write the optional fields.
   */
  charge: CheckCost;
  refund: CheckCost;
  /** A payment or a correction that the operator books, which may be negative; `actor_id`: the operator's key. */
  credit: {
    type: 'top_up_manual' | 'admin_adjustment';
    amount_micros: number;
    description: string;
    document_number: string | null;
    actor_id: string;
  };
  /** A recheck of a finished scan, which is counted but not charged. */
  recheck: object;
  /** A change of an organization's data: who made it, and the new values. */
  audit: {
    /** `client_id`: the OAuth client of the request, if it had a token. */
    actor: { kind: 'operator' | 'api_key' | 'oauth_client'; key_id: string; client_id?: string };
    action: string;
    subject_id: string;
    changes: Record<string, unknown>;
  };
  /** An event for clients; `sequence` orders the events of one record, from 1. */
  event: EventContent & { sequence: number };
  /** The alerts of a finished scan; each is created once for scan and entry. */
  alerts: { scan: AlertedScan; violations: Violation[] };
  /** An alert was raised (`sequence` 0) or its status changed for the `sequence`-th time. */
  'alert.changed': { alert_id: string; status: AlertStatus; sequence: number };
};

export type OutboxKind = keyof EntryKinds;

/**
 * Something that must happen after a change of a record, written in the same update as the change. The relay processes
 * each entry idempotently and then removes it: `id` is the id of the record that the entry creates (`charge:<scan>`,
 * `refund:<scan>`, `recheck:<scan>:<ordinal>`, an event's UUID).
 */
export type OutboxEntry<K extends OutboxKind = OutboxKind> = {
  [Kind in K]: { id: string; at: Date; kind: Kind } & EntryKinds[Kind];
}[K];

/** The fields of a record with an outbox. All except `outbox` are only set while it contains entries. */
export type OutboxFields = {
  outbox: OutboxEntry[];
  /** When the oldest entry was written. */
  outbox_at?: Date;
  /**
   * When the entries are due: a while before they are written, so that they are due by every clock, or later after a
   * failure.
   */
  outbox_due_at?: Date;
  /** The record's organization: among what is due, organizations have turns. */
  outbox_of?: string;
  outbox_failures?: number;
  /** When the claim of the relay that processes them expires. */
  outbox_claimed_until?: Date;
};

/**
 * The record that contains the entry; `scanId` is '' if it is not a scan. `traceparent`: the scan's, if it is traced.
 */
export type Origin = { organizationId: string; scanId: string; campaignId: string | null; traceparent?: string };

/** The handlers of entries by kind. Handlers are idempotent: the record that a handler creates has the entry's id. */
export type OutboxHandlers = { [K in OutboxKind]: (entry: OutboxEntry<K>, origin: Origin) => Promise<void> };

/** An event without its sequence number and time. */
export type EmittedEvent = Omit<OutboxEntry<'event'>, 'sequence' | 'at'>;

/**
 * An event to be written in the same update as the change that it reports. It has its own id, and gets its sequence
 * number and its time when it is added to the change.
 */
export function emit<K extends EventKind>(event: K, payload: EventPayload<K>): EmittedEvent {
  // TypeScript cannot derive that a kind and its payload together are an event content.
  return { id: newId(), kind: 'event', event, payload } as EmittedEvent;
}

/** The entries for `events` that occur at `at`, numbered from `last` + 1. */
export function inSequence(events: EmittedEvent[], last: number, at: Date): OutboxEntry<'event'>[] {
  return events.map((event, index) => ({ ...event, at, sequence: last + index + 1 }) as OutboxEntry<'event'>);
}
