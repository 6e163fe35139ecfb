import type { EventRecord } from '../events/event-store.ts';
import { deliveriesOf } from './delivery.ts';
import type { DeliveryStore } from './delivery-store.ts';
import type { EndpointStore } from './endpoint-store.ts';

export type QueueParts = {
  endpoints: Pick<EndpointStore, 'listOf' | 'queued'>;
  deliveries: Pick<DeliveryStore, 'add'>;
  /** Called when an endpoint has become due. */
  queued: () => void;
};

/**
 * Queues an event for each endpoint of its organization that wants it. Called again for the same event, it queues
 * nothing twice.
 */
export async function queueDeliveries(
  { endpoints, deliveries, queued }: QueueParts,
  event: EventRecord,
): Promise<void> {
  const made = deliveriesOf(event, await endpoints.listOf(event.organization_id));
  if (made.length === 0) return;
  await deliveries.add(made);
  const ids = made.map(({ endpoint_id }) => endpoint_id);
  // A pause may have ended since the event occurred: the relay can be late.
  const now = new Date(Math.max(event.occurred_at.getTime(), Date.now()));
  if (await endpoints.queued(event.organization_id, ids, now)) queued();
}
