import type { EventEntry } from '../outbox/outbox-entry.ts';
import type { EventStore } from './event-store.ts';

/** Records an event that a change of a scan told of; recorded once, however often it is called for the same entry. */
export async function recordEvent(
  events: Pick<EventStore, 'add'>,
  { id, event, payload, at }: EventEntry,
  organizationId: string,
): Promise<void> {
  await events.add({ _id: id, organization_id: organizationId, kind: event, payload, occurred_at: at });
}
