import { newId } from '@adsweep/shared/ids.ts';
import { type EventRecord, eventStore } from '../../src/delivery/events/event-store.ts';
import { deliveriesOf } from '../../src/delivery/webhooks/delivery.ts';
import { deliveryStore } from '../../src/delivery/webhooks/delivery-store.ts';
import { newEndpoint, secretContext } from '../../src/delivery/webhooks/endpoint.ts';
import { endpointStore } from '../../src/delivery/webhooks/endpoint-store.ts';
import { EVENT_TYPES } from '../../src/delivery/webhooks/event-types.ts';
import type { Secrets } from '../../src/platform/secrets.ts';
import type { Store } from '../../src/platform/store.ts';

/** The secret of all endpoints of `queueEvents`. */
export const WEBHOOK_SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

const WRITTEN_AT_ONCE = 100;

/**
 * Stores an organization with these endpoints, and the three events of each of `scans` scans, queued for all of the
 * endpoints. Returns the ids of the endpoints.
 */
export async function queueEvents(
  store: Store,
  secrets: Secrets,
  { organizationId, urls, scans }: { organizationId: string; urls: string[]; scans: number },
): Promise<string[]> {
  const [events, endpoints, deliveries] = [eventStore(store), endpointStore(store), deliveryStore(store)];
  for (const { createIndexes } of [events, endpoints, deliveries]) await createIndexes();
  const [organization_id, now] = [organizationId, new Date()];
  for (const url of urls) {
    const _id = newId();
    const secret = secrets.seal(WEBHOOK_SECRET, secretContext(_id));
    const settings = { url, description: '', event_types: [], campaign_ids: null };
    await endpoints.insertWithin(newEndpoint({ _id, organization_id, secret }, settings, now), []);
  }
  const known = await endpoints.listOf(organization_id);
  const eventsOf = (scan_id: string): EventRecord[] =>
    EVENT_TYPES.map(({ kind, sample }) => {
      const { sequence, ...payload } = { ...sample.data, scan_id };
      const of = { _id: newId(), organization_id, scan_id, campaign_id: null };
      return { ...of, sequence, kind, payload: payload as never, occurred_at: now };
    });
  for (let from = 0; from < scans; from += WRITTEN_AT_ONCE) {
    const made = Array.from({ length: Math.min(WRITTEN_AT_ONCE, scans - from) }, () => eventsOf(newId())).flat();
    await store.collection<EventRecord>('events').insertMany(made);
    await deliveries.add(made.flatMap((event) => deliveriesOf(event, known)));
  }
  const ids = known.map(({ _id }) => _id);
  await endpoints.queued(organization_id, ids, now);
  return ids;
}
