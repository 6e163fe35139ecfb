import type { GuardedPost } from '@adsweep/shared/egress/guarded-post.ts';
import { EVENT_KINDS } from '@adsweep/shared/events/event-kinds.ts';
import { newId } from '@adsweep/shared/ids.ts';
import type { Logger } from '@adsweep/shared/service/logger.ts';
import { given } from '@adsweep/shared/validation/given.ts';
import type { Issue } from '@adsweep/shared/validation/issue.ts';
import { Type } from 'typebox';
import { notFound } from '../../http/api-error.ts';
import type { Caller } from '../../http/caller.ts';
import { resource } from '../../http/resource-routes.ts';
import { moment, noContent, ok, orNull, type Route, route } from '../../http/route.ts';
import type { Secrets } from '../../platform/secrets.ts';
import type { EventStore } from '../events/event-store.ts';
import { signingSecretsOf, unreadable } from './deliver-event.ts';
import type { AttemptRecord } from './delivery.ts';
import type { DeliveryStore } from './delivery-store.ts';
import { EndpointParams, WEBHOOKS } from './endpoint-routes.ts';
import type { EndpointStore } from './endpoint-store.ts';
import { sampleBody } from './event-types.ts';
import { replayAttempt, replayRange } from './replay-events.ts';
import { sendEvent } from './send-event.ts';

export type DeliveryRouteParts = {
  endpoints: EndpointStore;
  deliveries: DeliveryStore;
  events: EventStore;
  secrets: Secrets;
  post: GuardedPost['post'];
  logger: Logger;
  /** Called when an endpoint has become due. */
  queued: () => void;
};

const noun = 'webhook endpoint';

const DeliverySchema = Type.Object(
  {
    id: Type.String({ description: 'Of this try.' }),
    event_id: Type.String(),
    event_type: Type.Enum(EVENT_KINDS),
    response_status: orNull(Type.Integer({ description: 'null: no answer came.' })),
    response_body: orNull(Type.String({ description: 'The first 2 KB of the answer, or why none came.' })),
    success: Type.Boolean(),
    attempt_number: Type.Integer({ description: 'From 1.' }),
    error_code: orNull(
      Type.String({
        description: '`dns`, `blocked_address`, `connect`, `tls`, `timeout`, `redirect`, `status` or `secret`.',
      }),
    ),
    elapsed_ms: orNull(Type.Integer()),
    created_at: moment(),
  },
  { title: 'Delivery' },
);

const TestSchema = Type.Object(
  {
    success: Type.Boolean(),
    response_status: orNull(Type.Integer()),
    elapsed_ms: Type.Integer(),
    error_code: orNull(Type.String()),
    response_body: Type.String(),
  },
  { title: 'WebhookTest' },
);

const TestInSchema = Type.Object(
  { event_type: Type.Enum(EVENT_KINDS) },
  { additionalProperties: false, title: 'WebhookTestIn', examples: [{ event_type: 'scanning.scan.completed' }] },
);

const ReplayInSchema = Type.Object(
  { from_ts: moment('Inclusive.'), to_ts: moment('Exclusive.') },
  {
    additionalProperties: false,
    title: 'ReplayIn',
    examples: [{ from_ts: '2026-03-01T00:00:00Z', to_ts: '2026-03-02T00:00:00Z' }],
  },
);

const ReplaySchema = Type.Object(
  {
    replayed: Type.Integer({ description: 'Events that are sent again.' }),
    skipped: Type.Integer({ description: 'Events that the endpoint has taken.' }),
  },
  { title: 'Replay' },
);

/** The log of what was sent to an endpoint, test shots and replays. */
export function deliveryRoutes(parts: DeliveryRouteParts): Route<Caller>[] {
  const { endpoints, deliveries } = parts;
  const log = resource<AttemptRecord>({
    group: WEBHOOKS.group,
    path: `${WEBHOOKS.path}/{endpoint_id}/deliveries`,
    id: null,
    noun,
    permission: 'webhooks.manage',
    schema: DeliverySchema,
    presenter: () => presentAttempt,
  });
  return [
    testRoute(parts),
    log.page({
      summary: 'Deliveries of an endpoint',
      description: 'Each try of the last seven days, newest first.',
      reply: 'A page of tries.',
      query: {
        success: Type.Optional(Type.Boolean()),
        from_ts: Type.Optional(moment('Tries from then on.')),
        to_ts: Type.Optional(moment('Tries before then.')),
      },
      refine: ({ query: { from_ts, to_ts } }) => rangeIssues('query', from_ts, to_ts),
      rows: async ({ organizationId, params: { endpoint_id = '' }, query: { success, from_ts, to_ts } }, window) => {
        if (!(await endpoints.find(organizationId, endpoint_id))) return null;
        const of = { organization_id: organizationId, endpoint_id };
        return deliveries.log(of, { succeeded: success, from: dateOf(from_ts), to: dateOf(to_ts) }, window);
      },
    }),
    route<Caller, typeof AttemptParams>({
      method: 'POST',
      path: `${WEBHOOKS.path}/deliveries/{attempt_id}/replay`,
      group: WEBHOOKS.group,
      summary: 'Send the event of a delivery again',
      description: 'Whatever the endpoint answered before.',
      permission: 'webhooks.manage',
      params: AttemptParams,
      replies: { 204: { description: 'The event is queued.' } },
      errors: ['not_found'],
      handle: async ({ caller: { organizationId }, params: { attempt_id } }) => {
        if (!(await replayAttempt(parts, organizationId, attempt_id, new Date()))) throw notFound('delivery');
        return noContent();
      },
    }),
    route<Caller, typeof EndpointParams, never, typeof ReplayInSchema>({
      method: 'POST',
      path: `${WEBHOOKS.path}/{endpoint_id}/replay`,
      group: WEBHOOKS.group,
      summary: 'Send events of a range again',
      description:
        'Those of the last seven days that fit the filters of the endpoint and that it has not taken, events before its creation included.',
      permission: 'webhooks.manage',
      params: EndpointParams,
      body: ReplayInSchema,
      replies: { 200: { description: 'How many.', schema: ReplaySchema } },
      errors: ['not_found'],
      refine: ({ body: { from_ts, to_ts } }) => rangeIssues('body', from_ts, to_ts),
      handle: async ({ caller: { organizationId }, params: { endpoint_id }, body: { from_ts, to_ts } }) => {
        const endpoint = await endpoints.find(organizationId, endpoint_id);
        if (!endpoint) throw notFound(noun);
        return ok(await replayRange(parts, endpoint, [new Date(from_ts), new Date(to_ts)], new Date()));
      },
    }),
  ];
}

const AttemptParams = Type.Object({ attempt_id: Type.String({ description: 'The `id` of a delivery.' }) });

/** Sends the sample of a kind once, as a test: neither the health of the endpoint nor its log changes. */
function testRoute(parts: DeliveryRouteParts): Route<Caller> {
  const { endpoints, post } = parts;
  return route<Caller, typeof EndpointParams, never, typeof TestInSchema>({
    method: 'POST',
    path: `${WEBHOOKS.path}/{endpoint_id}/test`,
    group: WEBHOOKS.group,
    summary: 'Try a webhook endpoint',
    description: 'Sends the sample of a kind once, at once, and returns what came back. It changes nothing.',
    permission: 'webhooks.manage',
    params: EndpointParams,
    body: TestInSchema,
    replies: { 200: { description: 'What came back.', schema: TestSchema } },
    errors: ['not_found'],
    handle: async ({ caller: { organizationId }, params: { endpoint_id }, body: { event_type } }) => {
      const [endpoint, now] = [await endpoints.find(organizationId, endpoint_id), new Date()];
      if (!endpoint) throw notFound(noun);
      const secrets = signingSecretsOf(parts, endpoint, now);
      const sample = { id: newId(), body: sampleBody(event_type) };
      const { succeeded, attempt } = secrets
        ? await sendEvent(post, { url: endpoint.url, secrets }, sample, { now })
        : unreadable(now);
      const { status, duration_ms, error_code, body } = attempt;
      return ok({
        success: succeeded,
        response_status: status,
        elapsed_ms: duration_ms,
        error_code,
        response_body: body,
      });
    },
  });
}

const dateOf = (text: string | undefined): Date | undefined => (text === undefined ? undefined : new Date(text));

/** A range that ends before it begins. */
export function rangeIssues(part: 'body' | 'query', from: string | undefined, to: string | undefined): Issue[] {
  if (from === undefined || to === undefined || Date.parse(from) <= Date.parse(to)) return [];
  return [{ loc: [part, 'from_ts'], msg: 'Must not be after to_ts.', type: 'invalid_range', ctx: given(from) }];
}

const presentAttempt = ({
  _id,
  event_id,
  kind,
  status,
  body,
  succeeded,
  number,
  error_code,
  duration_ms,
  at,
}: AttemptRecord) => ({
  id: _id,
  event_id,
  event_type: kind,
  response_status: status,
  response_body: body,
  success: succeeded,
  attempt_number: number,
  error_code,
  elapsed_ms: duration_ms,
  created_at: at.toISOString(),
});
