import type { GuardedPost } from '@adsweep/shared/egress/guarded-post.ts';
import type { Logger } from '@adsweep/shared/service/logger.ts';
import { carried, inSpan, SpanKind } from '@adsweep/shared/tracing/spans.ts';
import type { WorkMetrics } from '../../metrics.ts';
import { SecretError, type Secrets } from '../../platform/secrets.ts';
import { openSigningSecrets } from './change-endpoint.ts';
import type { DeliveryRecord } from './delivery.ts';
import type { DeliveryStore } from './delivery-store.ts';
import type { EndpointRecord } from './endpoint.ts';
import type { EventBody } from './event-types.ts';
import type { Try } from './health.ts';
import { type Sent, sendEvent } from './send-event.ts';

export type DeliverParts = {
  deliveries: Pick<DeliveryStore, 'drop' | 'tried'>;
  secrets: Secrets;
  post: GuardedPost['post'];
  metrics: Pick<WorkMetrics, 'webhookDeliveries' | 'webhookLateness'>;
  logger: Logger;
  clock?: () => Date;
};

/**
 * The outcome of a delivery. `dropped`: it was not sent; `stopped`: the process stops, and the delivery waits for
 * another one.
 */
export type DeliveryResult = { of: Try; delivery: DeliveryRecord } | 'dropped' | 'stopped';

/** What all deliveries of a batch are sent with; `secrets` null: they cannot be read. */
export type Sender = { parts: DeliverParts; endpoint: EndpointRecord; secrets: string[] | null };

/** An event to send, and the trace context of its scan. */
type Message = { body: EventBody; parent: string | undefined };

/** Sends one delivery in the trace of its scan, whose context the request carries. */
export function deliverEvent(
  sender: Sender,
  delivery: DeliveryRecord,
  { body, parent }: Message,
  signal?: AbortSignal,
): Promise<DeliveryResult> {
  const attributes = {
    'http.request.method': 'POST',
    'adsweep.scan.id': delivery.scan_id,
    'adsweep.endpoint.id': delivery.endpoint_id,
    'adsweep.event.id': delivery.event_id,
    'adsweep.event.kind': delivery.kind,
    'http.request.resend_count': delivery.attempts,
  };
  return inSpan('webhook delivery', parent, { kind: SpanKind.CLIENT, attributes }, async (span) => {
    const result = await sendAndRecord(sender, delivery, { body, ...carried(span.traceparent) }, signal);
    if (typeof result !== 'object') return result;
    const { status, succeeded } = result.of;
    if (status !== null) span.add({ 'http.response.status_code': status });
    if (!succeeded) span.fail(status === null ? 'unanswered' : String(status));
    return result;
  });
}

/** Sends one delivery and writes its outcome. */
async function sendAndRecord(
  { parts, endpoint, secrets }: Sender,
  delivery: DeliveryRecord,
  content: Omit<Parameters<typeof sendEvent>[2], 'id'>,
  signal?: AbortSignal,
): Promise<DeliveryResult> {
  const { deliveries, metrics, clock = () => new Date() } = parts;
  const startedAt = clock();
  let sent = unreadable(startedAt);
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
  // A replay is not late because its event is old.
  if (succeeded) metrics.webhookLateness.observe((startedAt.getTime() - delivery.window_from.getTime()) / 1000);
  const of = { startedAt, at: clock(), status: attempt.status, succeeded, retryAfterMs };
  return { of, delivery };
}

/** What became of a try at `at` for which the secrets cannot be read. */
export const unreadable = (at: Date): Sent => ({
  succeeded: false,
  retryAfterMs: null,
  attempt: { at, duration_ms: 0, status: null, error_code: 'secret', body: 'The secret cannot be read.' },
});

/** The secrets that sign the events of an endpoint; null: they cannot be read. */
export function signingSecretsOf(
  { secrets, logger }: Pick<DeliverParts, 'secrets' | 'logger'>,
  endpoint: EndpointRecord,
  now: Date,
): string[] | null {
  try {
    return openSigningSecrets(secrets, endpoint, now);
  } catch (cause) {
    if (!(cause instanceof SecretError)) throw cause;
    logger.error({ endpoint: endpoint._id, cause }, 'the secret of a webhook endpoint cannot be read');
    return null;
  }
}

/** Ends a delivery that is not wanted any more, or of which nothing is left. */
export async function dropDelivery(
  { deliveries, metrics }: DeliverParts,
  delivery: DeliveryRecord,
): Promise<'dropped'> {
  await deliveries.drop(delivery);
  metrics.webhookDeliveries.inc({ outcome: 'dropped' });
  return 'dropped';
}
