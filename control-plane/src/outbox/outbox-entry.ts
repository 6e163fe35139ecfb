import type { EventKind } from '@adsweep/shared/events/event-kinds.ts';

/**
 * What must follow a change of a scan, written in the same update as the change. The relay carries each entry out idempotently and
 * then removes it: `id` is the id of the record it makes (`charge:<scan>`, `refund:<scan>`, `<event kind>:<scan>:<n>`).
 */
export type OutboxEntry = MoneyEntry | EventEntry;

/** A charge or what is given back; the amount is never negative. */
export type MoneyEntry = { id: string; at: Date; kind: 'charge' | 'refund'; amount_micros: number };
/** Something that clients may want to hear of. */
export type EventEntry = { id: string; at: Date; kind: 'event'; event: EventKind; payload: Record<string, unknown> };
