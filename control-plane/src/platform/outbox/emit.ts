import type { EventKind, EventPayload } from '@adsweep/shared/events/event-kinds.ts';
import { newId } from '@adsweep/shared/ids.ts';
import type { OutboxEntry } from './outbox-entry.ts';

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
