import { pause } from '@adsweep/shared/service/time-slice.ts';
import type { EventRecord, EventStore } from '../events/event-store.ts';
import { type DeliveryRecord, deliveriesOf, deliveryIdOf } from './delivery.ts';
import { type DeliveryStore, KEPT_MS } from './delivery-store.ts';
import type { EndpointRecord } from './endpoint.ts';
import type { EndpointStore } from './endpoint-store.ts';

export type ReplayParts = {
  endpoints: Pick<EndpointStore, 'find' | 'queued'>;
  deliveries: Pick<DeliveryStore, 'add' | 'replay' | 'moveToEnd' | 'takenOf' | 'findAttempt' | 'findAll'>;
  events: Pick<EventStore, 'between' | 'ofScans'>;
  queued: () => void;
};

const READ_AT_ONCE = 200;

/**
 * Queues the event of an attempt again, whatever became of it. False: there is no such attempt, its endpoint was
 * deleted, or its event, which is kept for seven days from when it occurred: an attempt is kept longer.
 */
export async function replayAttempt(
  parts: ReplayParts,
  organizationId: string,
  attemptId: string,
  now: Date,
): Promise<boolean> {
  const { endpoints, deliveries, queued } = parts;
  const attempt = await deliveries.findAttempt(organizationId, attemptId);
  if (!attempt || !(await endpoints.find(organizationId, attempt.endpoint_id))) return false;
  const again = await deliveries.findAll(organizationId, [attempt.delivery_id]);
  if ((await replayInOrder(parts, again, now)) === 0) return false;
  if (await endpoints.queued(organizationId, [attempt.endpoint_id], now)) queued();
  return true;
}

/**
 * Queues the events between two moments that fit the filters of an endpoint and were not taken by it, events before its
 * creation included; those that were are skipped.
 */
export async function replayRange(
  parts: ReplayParts,
  endpoint: EndpointRecord,
  [from, to]: [Date, Date],
  now: Date,
): Promise<{ replayed: number; skipped: number }> {
  const { endpoints, deliveries, events, queued } = parts;
  const { organization_id, _id } = endpoint;
  const kept = new Date(Math.max(from.getTime(), now.getTime() - KEPT_MS));
  // What occurs meanwhile is sent anyway, and would have no end.
  const until = new Date(Math.min(to.getTime(), now.getTime()));
  const counts = { replayed: 0, skipped: 0 };
  let last: EventRecord | null = null;
  for (;;) {
    const read: EventRecord[] = await events.between(organization_id, [kept, until], last, READ_AT_ONCE);
    const made = read.flatMap((event) => deliveriesOf(event, [endpoint]));
    const taken = await deliveries.takenOf(made.map((one) => one._id));
    const again = made.filter((one) => !taken.has(one._id));
    await deliveries.add(again);
    await replayInOrder(parts, again, now);
    // After each part, because a range can have more events than are read before the process ends.
    if (again.length > 0 && (await endpoints.queued(organization_id, [_id], now))) queued();
    counts.replayed += again.length;
    counts.skipped += taken.size;
    if (read.length < READ_AT_ONCE) return counts;
    last = read.at(-1)!;
    await pause();
  }
}

/**
 * Queues deliveries of one endpoint again, and behind them the later events of their scans that still wait: otherwise
 * these would be sent first, because they have waited longer. Returns how many of the deliveries there still are.
 */
async function replayInOrder(
  { deliveries, events }: Pick<ReplayParts, 'deliveries' | 'events'>,
  again: DeliveryRecord[],
  now: Date,
): Promise<number> {
  const [first] = again;
  if (!first) return 0;
  const firstOf = new Map<string, number>();
  for (const { scan_id, sequence } of again) firstOf.set(scan_id, Math.min(sequence, firstOf.get(scan_id) ?? sequence));
  const ofScans = await events.ofScans(first.organization_id, [...firstOf.keys()]);
  const later = ofScans.filter(({ scan_id, sequence }) => sequence > firstOf.get(scan_id)!);
  await deliveries.moveToEnd(
    later.map(({ _id }) => deliveryIdOf(_id, first.endpoint_id)),
    now,
  );
  return deliveries.replay(
    again.map(({ _id }) => _id),
    now,
  );
}
