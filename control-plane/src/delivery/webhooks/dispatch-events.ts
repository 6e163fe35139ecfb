import type { GuardedPost } from '@adsweep/shared/egress/guarded-post.ts';
import type { Logger } from '@adsweep/shared/service/logger.ts';
import { awaitTurn } from '@adsweep/shared/service/time-slice.ts';
import { carried, inSpan, SpanKind } from '@adsweep/shared/tracing/spans.ts';
import type { WorkMetrics } from '../../metrics.ts';
import { SecretError, type Secrets } from '../../platform/secrets.ts';
import type { Loop } from '../../platform/start-loop.ts';
import { startPool } from '../../platform/start-pool.ts';
import type { WakeSignal } from '../../platform/wake-signal.ts';
import type { ReadTags, Tags } from '../../reference/tags/tag-definitions.ts';
import type { EventStore } from '../events/event-store.ts';
import { openSigningSecrets } from './change-endpoint.ts';
import { byScan, type DeliveryRecord, windowEndsAt } from './delivery.ts';
import type { DeliveryStore, OfEndpoint } from './delivery-store.ts';
import { type EndpointRecord, wantsEvent } from './endpoint.ts';
import type { EndpointStore } from './endpoint-store.ts';
import type { EventBody } from './event-types.ts';
import { afterTry, dueOfOutage, outageDueAt, type Try, WINDOW_MS } from './health.ts';
import { bodyOf, type Sent, sendEvent, slugsOf } from './send-event.ts';
import { warningOf } from './warn-users.ts';

export type DispatchParts = {
  endpoints: EndpointStore;
  deliveries: DeliveryStore;
  events: Pick<EventStore, 'findAll'>;
  secrets: Secrets;
  readTags: ReadTags;
  post: GuardedPost['post'];
  metrics: Pick<WorkMetrics, 'webhookDeliveries' | 'webhookLateness'>;
  logger: Logger;
  clock?: () => Date;
};

const LOOK_EVERY_MS = 2_000;
/** Longer than a batch of deliveries takes: the last of them begins within BATCH_MS, and has 15 s. */
const CLAIM_MS = 30_000;
const BATCH_MS = 5_000;
/** Endpoints that a process works for at a time: a slow one delays no other. */
const ENDPOINTS_AT_ONCE = 256;
/** Endpoints that it claims at a time. */
const CLAIMED_AT_ONCE = 64;
/** Deliveries of an endpoint in flight (spec 6): at first, or after a failure, and at most, after further successes. */
const IN_FLIGHT_MIN = 4;
const IN_FLIGHT_MAX = 32;
/** Deliveries of a batch for each one in flight. */
const PER_IN_FLIGHT = 4;
/** How long before the end of an event's window it is tried a last time. */
const LAST_TRY_BEFORE_MS = 5 * 60_000;

/** Sends what is due to webhook endpoints. Any number of dispatchers may run; each endpoint has one at a time. */
export function startDispatchingEvents(parts: DispatchParts, wake: WakeSignal): Loop {
  return startPool(parts.logger, {
    name: 'webhook deliveries',
    everyMs: LOOK_EVERY_MS,
    wake,
    concurrency: ENDPOINTS_AT_ONCE,
    claimedAtOnce: CLAIMED_AT_ONCE,
    claim: (limit) => claim(parts, limit),
    serve: (endpoint, signal) => serve(parts, endpoint, signal),
  });
}

function claim({ endpoints, clock = () => new Date() }: DispatchParts, limit: number) {
  const now = clock();
  return endpoints.claimDue(now, claimUntil(now), limit);
}

/** Claims what is due and serves it to the end. Returns whether there was anything: a step of the loop, for tests. */
export async function dispatchEvents(parts: DispatchParts, signal?: AbortSignal): Promise<boolean> {
  const { claimed } = await claim(parts, CLAIMED_AT_ONCE);
  await Promise.all(claimed.map((one) => serve(parts, one, signal)));
  return claimed.length > 0;
}

/**
 * Works for a claimed endpoint until nothing is due for it. One that fails gets its oldest event alone; one success makes all of them due, four in
 * flight at first and twice as many after each batch without a failure (spec 6).
 */
async function serve(parts: DispatchParts, claimed: EndpointRecord, signal?: AbortSignal): Promise<void> {
  const { endpoints, clock = () => new Date() } = parts;
  const of = { organization_id: claimed.organization_id, endpoint_id: claimed._id };
  let inFlightMax = IN_FLIGHT_MIN;
  let known = claimed;
  for (;;) {
    const now = clock();
    const endpoint = await attendOutage(parts, known, now);
    if (!endpoint) return;
    const { failing_since, paused_until } = endpoint.health;
    const isPaused = paused_until !== null && paused_until > now;
    const inFlight = failing_since ? 1 : inFlightMax;
    const waiting = isPaused ? [] : await unexpired(parts, of, failing_since ? 1 : inFlight * PER_IN_FLIGHT, now);
    let next: EndpointRecord | null = null;
    if (waiting.length === 0 || signal?.aborted) {
      const dueAts = [outageDueAt(endpoint.health), isPaused ? paused_until : null, signal?.aborted ? now : null];
      if (await endpoints.release(endpoint, earliest(dueAts))) return;
      // Something was queued, or the endpoint has started anew, since it was read; or the claim is lost, which `extend` finds.
    } else {
      const results = await sendBatch(parts, endpoint, { waiting, inFlight, now }, signal);
      const tries = results.filter((one) => typeof one === 'object');
      const health = tries.reduce(
        (before, { of: tried, delivery }) => afterTry(before, tried, lastTryAt(delivery, tried.at)),
        endpoint.health,
      );
      // Null: it has started anew meanwhile, with a health of its own; or the claim is lost.
      if (tries.length > 0) next = await endpoints.setHealth(endpoint, health, claimUntil(clock()));
      if (results.includes('stopped')) return endpoints.drop(claimed);
      inFlightMax = failing_since || health.failing_since ? IN_FLIGHT_MIN : Math.min(IN_FLIGHT_MAX, inFlightMax * 2);
    }
    next ??= await endpoints.extend(claimed, claimUntil(clock()));
    if (!next) return endpoints.drop(claimed);
    known = next;
  }
}

const claimUntil = (now: Date): Date => new Date(now.getTime() + CLAIM_MS);

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
 * Sends waiting deliveries, those of one scan one after the other. None begins after one has failed, or after BATCH_MS. Returns the results in the
 * order in which they came.
 */
async function sendBatch(
  parts: DispatchParts,
  endpoint: EndpointRecord,
  { waiting, inFlight, now }: Batch,
  signal?: AbortSignal,
): Promise<Result[]> {
  const { events, readTags, clock = () => new Date() } = parts;
  const found = await events.findAll(
    endpoint.organization_id,
    waiting.map(({ event_id }) => event_id),
  );
  const slugs = [...new Set(found.flatMap(slugsOf))];
  const tags: Tags = slugs.length > 0 ? await readTags(endpoint.organization_id, slugs) : new Map();
  const eventOf = new Map(found.map((event) => [event._id, event]));
  const sender = { parts, endpoint, secrets: secretsOf(parts, endpoint, now) };

  const results: Result[] = [];
  const [scans, until] = [byScan(waiting), now.getTime() + BATCH_MS];
  let mayBegin = true;
  const work = async (): Promise<void> => {
    for (let scan = scans.shift(); scan; scan = scans.shift())
      for (const delivery of scan) {
        // Composing and signing an event takes milliseconds, and several are begun at once.
        await awaitTurn();
        if (!mayBegin || clock().getTime() > until) return;
        const event = eventOf.get(delivery.event_id);
        const body = event && wantsEvent(endpoint, delivery) ? bodyOf(event, tags) : null;
        const result = body
          ? await deliverTraced(sender, delivery, { body, parent: event?.traceparent }, signal)
          : await drop(parts, delivery);
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

/** `dropped`: it was not sent; `stopped`: the process stops, and it waits for another one. */
type Result = { of: Try; delivery: DeliveryRecord } | 'dropped' | 'stopped';

const earliest = (times: (Date | null)[]): Date | null => {
  const known = times.filter((time) => time !== null);
  return known.length === 0 ? null : new Date(Math.min(...known.map((time) => time.getTime())));
};

/** Has the users of an endpoint warned that fails for an hour, and switches off one that fails for a day. Null: the claim has ended. */
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

/** The secrets that sign; null: they cannot be read. */
function secretsOf({ secrets, logger }: DispatchParts, endpoint: EndpointRecord, now: Date): string[] | null {
  try {
    return openSigningSecrets(secrets, endpoint, now);
  } catch (cause) {
    if (!(cause instanceof SecretError)) throw cause;
    logger.error({ endpoint: endpoint._id, cause }, 'the secret of a webhook endpoint cannot be read');
    return null;
  }
}

/** Ends a delivery that is not wanted any more, or of which nothing is left. */
async function drop({ deliveries, metrics }: DispatchParts, delivery: DeliveryRecord): Promise<'dropped'> {
  await deliveries.drop(delivery);
  metrics.webhookDeliveries.inc({ outcome: 'dropped' });
  return 'dropped';
}

/** What all deliveries of a batch are sent with; `secrets` null: they cannot be read. */
type Sender = { parts: DispatchParts; endpoint: EndpointRecord; secrets: string[] | null };

/** An event to send, and the trace context of its scan. */
type Message = { body: EventBody; parent: string | undefined };

/** Sends one delivery in the trace of its scan, whose context the request carries. */
function deliverTraced(
  sender: Sender,
  delivery: DeliveryRecord,
  { body, parent }: Message,
  signal?: AbortSignal,
): Promise<Result> {
  const attributes = {
    'http.request.method': 'POST',
    'adsweep.scan.id': delivery.scan_id,
    'adsweep.endpoint.id': delivery.endpoint_id,
    'adsweep.event.id': delivery.event_id,
    'adsweep.event.kind': delivery.kind,
    'http.request.resend_count': delivery.attempts,
  };
  return inSpan('webhook delivery', parent, { kind: SpanKind.CLIENT, attributes }, async (span) => {
    const result = await deliver(sender, delivery, { body, ...carried(span.traceparent) }, signal);
    if (typeof result !== 'object') return result;
    const { status, succeeded } = result.of;
    if (status !== null) span.add({ 'http.response.status_code': status });
    if (!succeeded) span.fail(status === null ? 'unanswered' : String(status));
    return result;
  });
}

/** Sends one delivery and writes what became of it. */
async function deliver(
  { parts, endpoint, secrets }: Sender,
  delivery: DeliveryRecord,
  content: Omit<Parameters<typeof sendEvent>[2], 'id'>,
  signal?: AbortSignal,
): Promise<Result> {
  const { deliveries, metrics, clock = () => new Date() } = parts;
  const startedAt = clock();
  const unread = {
    at: startedAt,
    duration_ms: 0,
    status: null,
    error_code: 'secret',
    body: 'The secret cannot be read.',
  };
  let sent: Sent = { succeeded: false, retryAfterMs: null, attempt: unread };
  try {
    const message = { id: delivery.event_id, ...content };
    if (secrets)
      sent = await sendEvent(parts.post, { url: endpoint.url, secrets }, message, { now: startedAt, signal });
  } catch (cause) {
    if (signal?.aborted) return 'stopped';
    throw cause;
  }
  const { succeeded, attempt, retryAfterMs } = sent;
  await deliveries.tried(delivery, attempt, succeeded);
  metrics.webhookDeliveries.inc({ outcome: succeeded ? 'delivered' : 'failed' });
  if (succeeded) metrics.webhookLateness.observe((startedAt.getTime() - delivery.occurred_at.getTime()) / 1000);
  const of = { startedAt, at: clock(), status: attempt.status, succeeded, retryAfterMs };
  return { of, delivery };
}
