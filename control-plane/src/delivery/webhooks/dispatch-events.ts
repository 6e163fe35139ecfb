import { MINUTE_MS } from '@adsweep/shared/durations.ts';
import { awaitTurn } from '@adsweep/shared/service/time-slice.ts';
import type { Loop } from '../../platform/start-loop.ts';
import { type Serving, startPool } from '../../platform/start-pool.ts';
import type { WakeSignal } from '../../platform/wake-signal.ts';
import type { ReadTags, Tags } from '../../reference/tags/tag-definitions.ts';
import type { EventStore } from '../events/event-store.ts';
import {
  type DeliverParts,
  type DeliveryResult,
  deliverEvent,
  dropDelivery,
  signingSecretsOf,
} from './deliver-event.ts';
import { byScan, type DeliveryRecord, windowEndsAt } from './delivery.ts';
import type { DeliveryStore, OfEndpoint } from './delivery-store.ts';
import { type EndpointRecord, wantsEvent } from './endpoint.ts';
import { ENDPOINTS_MAX, type EndpointStore } from './endpoint-store.ts';
import { afterTry, dueOfOutage, type Health, outageDueAt, WINDOW_MS } from './health.ts';
import { bodyOf, slugsOf } from './send-event.ts';
import { warningOf } from './warn-users.ts';

export type DispatchParts = DeliverParts & {
  endpoints: EndpointStore;
  deliveries: DeliveryStore;
  events: Pick<EventStore, 'findAll'>;
  readTags: ReadTags;
};

const LOOK_EVERY_MS = 2_000;
/** Longer than a batch of deliveries takes: the last of them begins within BATCH_MS, and has 15 s. */
const CLAIM_MS = 30_000;
const BATCH_MS = 5_000;
/** Endpoints that a process works for at a time: a slow one delays no other. */
const ENDPOINTS_AT_ONCE = 256;
/** How long it works for one of them before another one has its turn, if all places are taken. */
const TURN_MS = 10_000;
/** Endpoints that it claims at a time. */
const CLAIMED_AT_ONCE = 64;
/** Deliveries of an endpoint in flight (spec 6): at first, or after a failure, and at most, after further successes. */
const IN_FLIGHT_MIN = 4;
const IN_FLIGHT_MAX = 32;
/** Deliveries of a batch for each one in flight. */
const PER_IN_FLIGHT = 4;
/** How long before the end of an event's window it is tried a last time. */
const LAST_TRY_BEFORE_MS = 5 * MINUTE_MS;

/** Sends what is due to webhook endpoints. Any number of dispatchers may run; each endpoint has one at a time. */
export function startDispatchingEvents(parts: DispatchParts, wake: WakeSignal): Loop {
  return startPool(parts.logger, {
    name: 'webhook deliveries',
    everyMs: LOOK_EVERY_MS,
    wake,
    concurrency: ENDPOINTS_AT_ONCE,
    // One that is deleted may still be served: an organization that replaces those that do not answer again and again
    // takes no more places.
    concurrencyEach: ENDPOINTS_MAX,
    claimedAtOnce: CLAIMED_AT_ONCE,
    claim: (limit, serving) => claim(parts, limit, serving),
    serve: (endpoint, signal, isFull) => serve(parts, endpoint, { signal, isFull }),
  });
}

function claim({ endpoints, clock = () => new Date() }: DispatchParts, limit: number, serving: Serving) {
  const now = clock();
  return endpoints.claimDue(now, claimUntil(now), limit, serving);
}

/** Claims what is due and serves it. Returns whether there was anything: a step of the loop, for tests. */
export async function dispatchEvents(parts: DispatchParts, place: Place = {}): Promise<boolean> {
  const { claimed } = await claim(parts, CLAIMED_AT_ONCE, { each: CLAIMED_AT_ONCE, now: new Map() });
  await Promise.all(claimed.map((one) => serve(parts, one, place)));
  return claimed.length > 0;
}

/** Where an endpoint is served. `signal`: the process stops; `isFull`: others may wait for the place. */
type Place = { signal?: AbortSignal; isFull?: () => boolean };

/**
 * Works for a claimed endpoint until nothing is due for it, or its turn is over and others may wait for its place. One
 * that fails gets its oldest event alone; one success makes all of them due, four in flight at first and twice as many
 * after each batch without a failure (spec 6).
 */
async function serve(
  parts: DispatchParts,
  claimed: EndpointRecord,
  { signal, isFull = () => false }: Place,
): Promise<void> {
  const { endpoints, clock = () => new Date() } = parts;
  const turnEndsAt = clock().getTime() + TURN_MS;
  let inFlightMax = IN_FLIGHT_MIN;
  let known = claimed;
  for (;;) {
    const now = clock();
    const endpoint = await attendOutage(parts, known, now);
    if (!endpoint) return;
    const batch = await nextBatch(parts, endpoint, inFlightMax, now);
    let kept: EndpointRecord | null = null;
    const isOver = signal?.aborted || (now.getTime() >= turnEndsAt && isFull());
    if (batch.waiting.length === 0 || isOver) {
      if (await endpoints.release(endpoint, batch.waiting.length > 0 ? now : nextDueAt(endpoint, now))) return;
      // Something was queued, or the endpoint has started anew, since it was read; or the claim is lost, which `extend`
      // finds.
    } else {
      const results = await sendBatch(parts, endpoint, batch, signal);
      const health = healthAfter(endpoint.health, results);
      // Null: it has started anew meanwhile, with a health of its own; or the claim is lost.
      if (health !== endpoint.health) kept = await endpoints.setHealth(endpoint, health, claimUntil(clock()));
      const isFailing = endpoint.health.failing_since !== null || health.failing_since !== null;
      inFlightMax = isFailing ? IN_FLIGHT_MIN : Math.min(IN_FLIGHT_MAX, inFlightMax * 2);
    }
    kept ??= await endpoints.extend(claimed, claimUntil(clock()));
    if (!kept) return endpoints.drop(claimed);
    known = kept;
  }
}

const claimUntil = (now: Date): Date => new Date(now.getTime() + CLAIM_MS);

/** What is sent next: nothing to an endpoint that is paused, and the oldest event alone to one that fails. */
async function nextBatch(
  parts: DispatchParts,
  endpoint: EndpointRecord,
  inFlightMax: number,
  now: Date,
): Promise<Batch> {
  if (pausedUntil(endpoint, now)) return { waiting: [], inFlight: 1, now };
  const isFailing = endpoint.health.failing_since !== null;
  const of = { organization_id: endpoint.organization_id, endpoint_id: endpoint._id };
  const waiting = await unexpired(parts, of, isFailing ? 1 : inFlightMax * PER_IN_FLIGHT, now);
  return { waiting, inFlight: isFailing ? 1 : inFlightMax, now };
}

/** When a paused endpoint is tried again; null: it is not paused. */
const pausedUntil = ({ health: { paused_until } }: EndpointRecord, now: Date): Date | null =>
  paused_until !== null && paused_until > now ? paused_until : null;

/** When an endpoint without deliveries to send is due again; null: with its next event. */
const nextDueAt = (endpoint: EndpointRecord, now: Date): Date | null =>
  earliest([outageDueAt(endpoint.health), pausedUntil(endpoint, now)]);

/** The health of an endpoint after the results of a batch; the same object if it was not tried. */
const healthAfter = (before: Health, results: readonly DeliveryResult[]): Health =>
  results.reduce(
    (health, result) =>
      typeof result === 'object' ? afterTry(health, result.of, lastTryAt(result.delivery, result.of.at)) : health,
    before,
  );

/** The oldest deliveries of an endpoint that wait; those whose window is over are ended first. */
async function unexpired(
  { deliveries, metrics }: DispatchParts,
  of: OfEndpoint,
  limit: number,
  now: Date,
): Promise<DeliveryRecord[]> {
  const oldest = await deliveries.oldestWaiting(of, limit);
  if (oldest.length === 0 || windowEndsAt(oldest[0]!) > now) return oldest;
  const expired = await deliveries.expire(of, new Date(now.getTime() - WINDOW_MS));
  metrics.webhookDeliveries.inc({ outcome: 'expired' }, expired);
  return deliveries.oldestWaiting(of, limit);
}

/** Deliveries that are sent together, `inFlight` of them at a time. */
type Batch = { waiting: DeliveryRecord[]; inFlight: number; now: Date };

/**
 * Sends waiting deliveries, those of one scan one after the other. None begins after one has failed, the endpoint was
 * changed or BATCH_MS have passed. Returns the results in the order in which they came.
 */
async function sendBatch(
  parts: DispatchParts,
  endpoint: EndpointRecord,
  { waiting, inFlight, now }: Batch,
  signal?: AbortSignal,
): Promise<DeliveryResult[]> {
  const { events, readTags, clock = () => new Date() } = parts;
  const found = await events.findAll(
    endpoint.organization_id,
    waiting.map(({ event_id }) => event_id),
  );
  const slugs = [...new Set(found.flatMap(slugsOf))];
  const tags: Tags = slugs.length > 0 ? await readTags(endpoint.organization_id, slugs) : new Map();
  const eventOf = new Map(found.map((event) => [event._id, event]));
  const sender = { parts, endpoint, secrets: signingSecretsOf(parts, endpoint, now) };

  const results: DeliveryResult[] = [];
  const [scans, until] = [byScan(waiting), now.getTime() + BATCH_MS];
  let mayBegin = true;
  const work = async (): Promise<void> => {
    for (let scan = scans.shift(); scan; scan = scans.shift())
      for (const delivery of scan) {
        // Composing and signing an event takes milliseconds, and several are begun at once.
        await awaitTurn();
        mayBegin &&= clock().getTime() <= until && (await parts.endpoints.isUnchanged(endpoint));
        if (!mayBegin) return;
        const event = eventOf.get(delivery.event_id);
        const body = event && wantsEvent(endpoint, delivery) ? bodyOf(event, tags) : null;
        const result = body
          ? await deliverEvent(sender, delivery, { body, parent: event?.traceparent }, signal)
          : await dropDelivery(parts, delivery);
        results.push(result);
        mayBegin &&= result === 'dropped' || (typeof result === 'object' && result.of.succeeded);
      }
  };
  await Promise.all(Array.from({ length: inFlight }, work));
  return results;
}

/** A pause ends in time for a last try before the event expires and the endpoint is switched off. */
function lastTryAt(delivery: DeliveryRecord, now: Date): Date {
  const end = windowEndsAt(delivery);
  const last = new Date(end.getTime() - LAST_TRY_BEFORE_MS);
  return last > now ? last : end;
}

const earliest = (times: (Date | null)[]): Date | null => {
  const known = times.filter((time) => time !== null);
  return known.length === 0 ? null : new Date(Math.min(...known.map((time) => time.getTime())));
};

/**
 * Has the users of an endpoint warned that fails for an hour, and switches off one that fails for a day. Null: the
 * claim has ended.
 */
async function attendOutage(
  { endpoints }: DispatchParts,
  endpoint: EndpointRecord,
  now: Date,
): Promise<EndpointRecord | null> {
  const due = dueOfOutage(endpoint.health, now);
  if (due === 'switch_off') {
    const detail = `No delivery was taken since ${endpoint.health.failing_since!.toISOString()}.`;
    const disabled = { reason: 'failing', detail, at: now } as const;
    return (await endpoints.switchOff(endpoint, disabled, warningOf(endpoint, 'switched_off', now))) ? null : endpoint;
  }
  if (due !== 'warn') return endpoint;
  const health = { ...endpoint.health, is_warned: true };
  return (
    (await endpoints.setHealth(endpoint, health, claimUntil(now), warningOf(endpoint, 'failing', now))) ?? endpoint
  );
}
