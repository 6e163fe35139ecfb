import type { GuardedPost } from '@adsweep/shared/egress/guarded-post.ts';
import type { Logger } from '@adsweep/shared/service/logger.ts';
import type { WorkMetrics } from '../../metrics.ts';
import { SecretError, type Secrets } from '../../platform/secrets.ts';
import { type Loop, startLoop } from '../../platform/start-loop.ts';
import type { WakeSignal } from '../../platform/wake-signal.ts';
import type { ReadTags } from '../../reference/tags/tag-definitions.ts';
import type { EventStore } from '../events/event-store.ts';
import { openSigningSecrets } from './change-endpoint.ts';
import { type DeliveryRecord, firstOfEachScan, windowEndsAt } from './delivery.ts';
import type { DeliveryStore } from './delivery-store.ts';
import { type EndpointRecord, wantsEvent } from './endpoint.ts';
import type { EndpointStore } from './endpoint-store.ts';
import { afterTry, dueOfOutage, outageDueAt, type Try, WINDOW_MS } from './health.ts';
import { bodyOf, type Sent, sendEvent, slugsOf } from './send-event.ts';
import { warningOf } from './warn-users.ts';

export type DispatchParts = {
  endpoints: EndpointStore;
  deliveries: DeliveryStore;
  events: Pick<EventStore, 'find'>;
  secrets: Secrets;
  readTags: ReadTags;
  post: GuardedPost['post'];
  metrics: Pick<WorkMetrics, 'webhookDeliveries' | 'webhookLateness'>;
  logger: Logger;
  clock?: () => Date;
};

const LOOK_EVERY_MS = 2_000;
/** Longer than a group of deliveries takes: each has 15 s, and they are sent together. */
const CLAIM_MS = 30_000;
/** Endpoints that a process works for at a time: a slow one has its own place, so that it delays no other. */
const ENDPOINTS_AT_ONCE = 64;
/** Spec 6: deliveries of an endpoint in flight, when it is good again and when its answers go on being good. */
const [WIDTH_MIN, WIDTH_MAX] = [4, 32];
/** How long before the end of an event's window it is tried a last time. */
const LAST_TRY_BEFORE_MS = 5 * 60_000;
/** Waiting deliveries that are read to find enough of different scans. */
const READ_PER_PLACE = 4;

/** Sends what is due to webhook endpoints. Any number of dispatchers may run; each endpoint has one at a time. */
export function startDispatchingEvents(parts: DispatchParts, wake: WakeSignal): Loop {
  const stopping = new AbortController();
  const working = new Set<Promise<void>>();
  const step = async (): Promise<boolean> => {
    const { claimed, hasMore } = await claim(parts, ENDPOINTS_AT_ONCE - working.size);
    for (const endpoint of claimed) {
      const work = serve(parts, endpoint, stopping.signal)
        .catch((cause: unknown) =>
          parts.logger.error({ endpoint: endpoint._id, cause }, 'a webhook endpoint was not served'),
        )
        .finally(() => working.delete(work));
      working.add(work);
    }
    return hasMore && working.size < ENDPOINTS_AT_ONCE;
  };
  const loop = startLoop(parts.logger, { name: 'webhook deliveries', everyMs: LOOK_EVERY_MS, step, wake });
  return {
    async stop() {
      stopping.abort(new Error('the process stops'));
      await loop.stop();
      await Promise.all(working);
    },
  };
}

function claim({ endpoints, clock = () => new Date() }: DispatchParts, limit: number) {
  const now = clock();
  if (limit <= 0) return { claimed: [], hasMore: true };
  return endpoints.claimDue(now, new Date(now.getTime() + CLAIM_MS), limit);
}

/** Claims what is due and serves it to the end. Returns whether there was anything: a step of the loop, for tests. */
export async function dispatchEvents(parts: DispatchParts, signal?: AbortSignal): Promise<boolean> {
  const { claimed } = await claim(parts, ENDPOINTS_AT_ONCE);
  await Promise.all(claimed.map((one) => serve(parts, one, signal)));
  return claimed.length > 0;
}

/**
 * Works for a claimed endpoint until nothing is due for it. One that fails gets its oldest event alone; one success makes all of them due, four in
 * flight at first and twice as many after each group without a failure (spec 6).
 */
async function serve(parts: DispatchParts, claimed: EndpointRecord, signal?: AbortSignal): Promise<void> {
  const { endpoints, deliveries, clock = () => new Date() } = parts;
  const of = { organization_id: claimed.organization_id, endpoint_id: claimed._id };
  let width = WIDTH_MIN;
  for (;;) {
    const now = clock();
    const extended = await endpoints.extend(claimed, new Date(now.getTime() + CLAIM_MS));
    if (!extended) return endpoints.drop(claimed);
    const endpoint = await attendOutage(parts, extended, now);
    if (!endpoint) return;
    const expired = await deliveries.expire(of, new Date(now.getTime() - WINDOW_MS));
    if (expired > 0) parts.metrics.webhookDeliveries.inc({ outcome: 'expired' }, expired);

    const { failing_since, paused_until } = endpoint.health;
    const isPaused = paused_until !== null && paused_until > now;
    const places = failing_since ? 1 : width;
    const waiting = isPaused ? [] : await deliveries.oldestWaiting(of, places * READ_PER_PLACE);
    if (waiting.length === 0 || signal?.aborted) {
      const dueAts = [outageDueAt(endpoint.health), isPaused ? paused_until : null, signal?.aborted ? now : null];
      if (await endpoints.release(endpoint, earliest(dueAts))) return;
      // Something was queued, or the endpoint has started anew, since it was read. A claim that is lost is found by `extend`.
      continue;
    }
    const group = firstOfEachScan(waiting, places);
    const results: Result[] = [];
    await Promise.all(group.map(async (one) => results.push(await deliver(parts, endpoint, one, signal))));
    const tries = results.filter((one) => typeof one === 'object');
    const health = tries.reduce(
      (before, { of: tried, delivery }) => afterTry(before, tried, lastTryAt(delivery, tried.at)),
      endpoint.health,
    );
    // Null: it has started anew meanwhile, with a health of its own.
    if (tries.length > 0) await endpoints.setHealth(endpoint, health);
    if (results.includes('stopped')) return endpoints.drop(claimed);
    width = failing_since || health.failing_since ? WIDTH_MIN : Math.min(WIDTH_MAX, width * 2);
  }
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
  return (await endpoints.setHealth(endpoint, health, warningOf(endpoint, 'failing', now))) ?? endpoint;
}

/** Sends one delivery and writes what became of it. */
async function deliver(
  parts: DispatchParts,
  endpoint: EndpointRecord,
  delivery: DeliveryRecord,
  signal?: AbortSignal,
): Promise<Result> {
  const { deliveries, events, readTags, metrics, clock = () => new Date() } = parts;
  const event = await events.find(delivery.organization_id, delivery.event_id);
  const isWanted = event !== null && wantsEvent(endpoint, delivery);
  const body = isWanted ? bodyOf(event, await readTags(event.organization_id, slugsOf(event))) : null;
  if (!body) {
    await deliveries.drop(delivery);
    metrics.webhookDeliveries.inc({ outcome: 'dropped' });
    return 'dropped';
  }
  const startedAt = clock();
  let sent: Sent;
  try {
    const secrets = openSigningSecrets(parts.secrets, endpoint, startedAt);
    const message = { id: delivery.event_id, body };
    sent = await sendEvent(parts.post, { url: endpoint.url, secrets }, message, { now: startedAt, signal });
  } catch (cause) {
    if (signal?.aborted) return 'stopped';
    if (!(cause instanceof SecretError)) throw cause;
    parts.logger.error({ endpoint: endpoint._id, cause }, 'the secret of a webhook endpoint cannot be read');
    const attempt = {
      at: startedAt,
      duration_ms: 0,
      status: null,
      body: 'The secret cannot be read.',
      error_code: 'secret',
    };
    sent = { succeeded: false, retryAfterMs: null, attempt };
  }
  const { succeeded, attempt, retryAfterMs } = sent;
  await deliveries.tried(delivery, succeeded ? 'delivered' : 'waiting', attempt, succeeded);
  metrics.webhookDeliveries.inc({ outcome: succeeded ? 'delivered' : 'failed' });
  if (succeeded) metrics.webhookLateness.observe((startedAt.getTime() - delivery.occurred_at.getTime()) / 1000);
  const of = { startedAt, at: clock(), status: attempt.status, succeeded, retryAfterMs };
  return { of, delivery };
}
