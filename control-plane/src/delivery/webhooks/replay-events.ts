import { pause } from '@adsweep/shared/service/time-slice.ts';
import type { EventRecord, EventStore } from '../events/event-store.ts';
import { deliveriesOf, deliveryIdOf } from './delivery.ts';
import { type DeliveryStore, KEPT_MS } from './delivery-store.ts';
import type { EndpointRecord } from './endpoint.ts';
import type { EndpointStore } from './endpoint-store.ts';

export type ReplayParts = {
  endpoints: Pick<EndpointStore, 'find' | 'queued'>;
  deliveries: Pick<DeliveryStore, 'add' | 'replay' | 'takenOf' | 'findAttempt'>;
  events: Pick<EventStore, 'between'>;
  queued: () => void;
};

const READ_AT_ONCE = 200;

/**
 * Queues the event of an attempt again, whatever became of it. False: there is no such attempt, its endpoint was deleted, or its event, which is
 * kept for seven days from when it occurred: an attempt is kept longer.
 */
export async function replayAttempt(
  { endpoints, deliveries, queued }: ReplayParts,
  organizationId: string,
  attemptId: string,
  now: Date,
): Promise<boolean> {
  const attempt = await deliveries.findAttempt(organizationId, attemptId);
  if (!attempt || !(await endpoints.find(organizationId, attempt.endpoint_id))) return false;
  if ((await deliveries.replay([attempt.delivery_id], now)) === 0) return false;
  if (await endpoints.queued(organizationId, [attempt.endpoint_id], now)) queued();
  return true;
}

/**
 * Queues the events between two moments that fit the filters of an endpoint and were not taken by it, events before its creation included; those
 * that were are skipped.
 */
export async function replayRange(
  { endpoints, deliveries, events, queued }: ReplayParts,
  endpoint: EndpointRecord,
  [from, to]: [Date, Date],
  now: Date,
): Promise<{ replayed: number; skipped: number }> {
  const { organization_id, _id } = endpoint;
  const kept = new Date(Math.max(from.getTime(), now.getTime() - KEPT_MS));
  const counts = { replayed: 0, skipped: 0 };
  let last: EventRecord | null = null;
  for (;;) {
    const read: EventRecord[] = await events.between(organization_id, [kept, to], last, READ_AT_ONCE);
    const made = read.flatMap((event) => deliveriesOf(event, [endpoint]));
    const taken = await deliveries.takenOf(made.map((one) => one._id));
    const again = made.filter((one) => !taken.has(one._id));
    await deliveries.add(again);
    await deliveries.replay(
      again.map((one) => deliveryIdOf(one.event_id, _id)),
      now,
    );
    counts.replayed += again.length;
    counts.skipped += taken.size;
    if (read.length < READ_AT_ONCE) break;
    last = read.at(-1)!;
    await pause();
  }
  if (counts.replayed > 0 && (await endpoints.queued(organization_id, [_id], now))) queued();
  return counts;
}
