import type { EventContent, EventKind, EventPayload } from '@adsweep/shared/events/event-kinds.ts';
import { newId } from '@adsweep/shared/ids.ts';
import type { TargetKind } from '@adsweep/shared/scan/target.ts';

type CheckCost = {
  amount_micros: number;
  target_kind?: TargetKind;
  /** When the check was charged. */
  charged_at?: Date;
};

/** The content of each kind of entry. To add a kind, add a line here; the type checker then requires its handler. */
type EntryKinds = {
  /** A charge or a refund of a check; the amount is never negative. What is optional, earlier versions did not write. */
  charge: CheckCost;
  refund: CheckCost;
  /** A finished scan is checked again; counted, and not charged. */
  recheck: object;
  /** Who changed something of an organization, and what it now is. */
  audit: {
    actor: { kind: 'operator' | 'api_key'; key_id: string };
    action: string;
    subject_id: string;
    changes: Record<string, unknown>;
  };
  /** An event for clients; `sequence` orders the events of one record, from 1. */
  event: EventContent & { sequence: number };
};

export type OutboxKind = keyof EntryKinds;

/**
 * What must follow a change of a record, written in the same update as the change. The relay carries each entry out idempotently and
 * then removes it: `id` is the id of the record that it makes (`charge:<scan>`, `refund:<scan>`,
 * `recheck:<scan>:<ordinal>`, an event's UUID).
 */
export type OutboxEntry<K extends OutboxKind = OutboxKind> = {
  [Kind in K]: { id: string; at: Date; kind: Kind } & EntryKinds[Kind];
}[K];

/** The fields of a record that has an outbox. All but `outbox` are there only while it holds something. */
export type OutboxFields = {
  outbox: OutboxEntry[];
  /** When the oldest entry was written. */
  outbox_at?: Date;
  /** When the entries are to be carried out next: at once, or later after a failure. */
  outbox_due_at?: Date;
  outbox_failures?: number;
  /** Until then only one relay works on them. */
  outbox_claimed_until?: Date;
};

/** The record that an entry was written with; `scanId` is '' if that is not a scan. */
export type Origin = { organizationId: string; scanId: string; campaignId: string | null };

/** How each kind of entry is carried out. Every handler can be repeated: the record that it makes has the entry's id. */
export type OutboxHandlers = { [K in OutboxKind]: (entry: OutboxEntry<K>, origin: Origin) => Promise<void> };

/** An event before it has its place among the events of its record. */
export type EmittedEvent = Omit<OutboxEntry<'event'>, 'sequence'>;

/**
 * An event to be written together with the change that it reports: both are written or neither. It has an id of its own, and gets its
 * sequence from the change that carries it.
 */
export function emit<K extends EventKind>(event: K, payload: EventPayload<K>, now: Date): EmittedEvent {
  // TypeScript does not see that a kind and its payload, taken together, are one of the events' contents.
  return { id: newId(), kind: 'event', event, payload, at: now } as EmittedEvent;
}

/** The entries for `events`, numbered on from `last`. */
export function inSequence(events: EmittedEvent[], last: number): OutboxEntry<'event'>[] {
  return events.map((event, index) => ({ ...event, sequence: last + index + 1 }) as OutboxEntry<'event'>);
}
