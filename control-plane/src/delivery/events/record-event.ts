import type { Origin, OutboxEntry } from '../../platform/outbox/outbox-entry.ts';
import type { EventStore } from './event-store.ts';

/** Records an event that a change told of; recorded once, however often it is called for the same entry. */
export async function recordEvent(
  events: Pick<EventStore, 'add'>,
  { id, event, payload, sequence, at }: OutboxEntry<'event'>,
  { organizationId, scanId, campaignId }: Origin,
): Promise<void> {
  await events.add({
    _id: id,
    organization_id: organizationId,
    scan_id: scanId,
    campaign_id: campaignId,
    sequence,
    kind: event,
    payload,
    occurred_at: at,
  });
}
