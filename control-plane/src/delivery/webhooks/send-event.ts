import { EgressError } from '@adsweep/shared/egress/egress-error.ts';
import type { GuardedPost } from '@adsweep/shared/egress/guarded-post.ts';
import type { EventPayload } from '@adsweep/shared/events/event-kinds.ts';
import { carried } from '@adsweep/shared/tracing/spans.ts';
import { Webhook } from 'standardwebhooks';
import { isArchived, type Tags } from '../../reference/tags/tag-definitions.ts';
import type { EventRecord } from '../events/event-store.ts';
import type { Attempt } from './delivery.ts';
import type { EventBody } from './event-types.ts';

/** Spec 6: an answer takes at most this long. */
const TIMEOUT_MS = 15_000;

/** The result of a try: whether it was taken, what is kept of it, and how long the endpoint wants to be left alone. */
export type Sent = { succeeded: boolean; attempt: Attempt; retryAfterMs: number | null };

/** The body of an event as it is sent now: archived tags are left out (spec 2.5). Null: nothing is left of it. Pure. */
export function bodyOf({ kind, payload, sequence, occurred_at }: EventRecord, tags: Tags): EventBody | null {
  const data = kind === 'scanning.tags.detected' ? withoutArchived(payload as TagsDetected, tags) : payload;
  if (data === null) return null;
  return { type: kind, timestamp: occurred_at.toISOString(), data: { ...data, sequence } as EventBody['data'] };
}

type TagsDetected = EventPayload<'scanning.tags.detected'>;

/** The tags that an event names: `bodyOf` needs the definitions of these alone. */
export const slugsOf = ({ kind, payload }: EventRecord): string[] =>
  kind === 'scanning.tags.detected' ? (payload as TagsDetected).tag_slugs : [];

function withoutArchived(payload: TagsDetected, tags: Tags): TagsDetected | null {
  const inService = (slug: string): boolean => !isArchived(tags, slug);
  const tag_slugs = payload.tag_slugs.filter(inService);
  return tag_slugs.length === 0
    ? null
    : { ...payload, tag_slugs, tags: payload.tags.filter(({ slug }) => inService(slug)) };
}

/**
 * The headers of Standard Webhooks: a signature by each secret, so that both are accepted while a secret is replaced.
 */
export function signedHeaders(eventId: string, body: string, secrets: string[], now: Date): Record<string, string> {
  return {
    'content-type': 'application/json',
    'user-agent': 'Adsweep',
    'webhook-id': eventId,
    'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
    'webhook-signature': secrets.map((secret) => new Webhook(secret).sign(eventId, now, body)).join(' '),
  };
}

/** Sends an event once. Rejects with the reason of `signal` alone. */
export async function sendEvent(
  post: GuardedPost['post'],
  { url, secrets }: { url: string; secrets: string[] },
  { id, body, traceparent }: { id: string; body: EventBody; traceparent?: string },
  { now, signal }: { now: Date; signal?: AbortSignal | undefined },
): Promise<Sent> {
  const text = JSON.stringify(body);
  const began = performance.now();
  const tried = (of: Partial<Attempt>): Attempt => {
    const duration_ms = Math.round(performance.now() - began);
    return { at: now, duration_ms, status: null, body: '', error_code: null, ...of };
  };
  try {
    const headers = { ...signedHeaders(id, text, secrets, now), ...carried(traceparent) };
    const answer = await post({ url, headers, body: text, timeoutMs: TIMEOUT_MS, ...(signal && { signal }) });
    const { status, body: said, retryAfter } = answer;
    const succeeded = status >= 200 && status < 300;
    const isRedirect = status >= 300 && status < 400;
    const error_code = succeeded ? null : isRedirect ? 'redirect' : 'status';
    return { succeeded, attempt: tried({ status, body: said, error_code }), retryAfterMs: msOf(retryAfter, now) };
  } catch (error) {
    if (signal?.aborted) throw signal.reason;
    if (!(error instanceof EgressError)) throw error;
    return { succeeded: false, attempt: tried({ body: error.message, error_code: error.code }), retryAfterMs: null };
  }
}

/** `Retry-After` (RFC 9110, section 10.2.3): seconds, or a date. */
function msOf(retryAfter: string | null, now: Date): number | null {
  if (retryAfter === null) return null;
  if (/^\d{1,6}$/.test(retryAfter)) return Number(retryAfter) * 1_000;
  const at = Date.parse(retryAfter);
  return Number.isNaN(at) ? null : Math.max(0, at - now.getTime());
}
