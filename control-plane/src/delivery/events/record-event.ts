import { carried } from '@adsweep/shared/tracing/spans.ts';
import type { Origin, OutboxEntry } from '../../platform/outbox/outbox-entry.ts';
import type { EventRecord, EventStore } from './event-store.ts';

/** Records the event of an outbox entry, once even if it is called again for the same entry. */
export async function recordEvent(
  events: Pick<EventStore, 'add'>,
  { id, event, payload, sequence, at }: OutboxEntry<'event'>,
  { organizationId, scanId, campaignId, traceparent }: Origin,
): Promise<EventRecord> {
  const record: EventRecord = {
    _id: id,
    organization_id: organizationId,
    scan_id: scanId,
    campaign_id: campaignId,
    sequence,
    kind: event,
    payload,
    occurred_at: at,
    ...carried(traceparent),
  };
  await events.add(record);
  return record;
}
