import { EVENT_KINDS } from '@adsweep/shared/events/event-kinds.ts';
import { Type } from 'typebox';
import type { Caller } from '../../http/caller.ts';
import { resource } from '../../http/resource-routes.ts';
import { moment, type Route } from '../../http/route.ts';
import type { ReadTags } from '../../reference/tags/tag-definitions.ts';
import type { EventRecord, EventStore } from '../events/event-store.ts';
import { DELIVERY_STATES, type DeliveryState, deliveryIdOf, stateAt } from './delivery.ts';
import { rangeIssues } from './delivery-routes.ts';
import type { DeliveryStore } from './delivery-store.ts';
import { WEBHOOKS } from './endpoint-routes.ts';
import type { EndpointStore } from './endpoint-store.ts';
import type { EventBody } from './event-types.ts';
import { bodyOf, slugsOf } from './send-event.ts';

const EventSchema = Type.Object(
  {
    id: Type.String({ description: 'The `webhook-id` of its deliveries.' }),
    type: Type.Enum(EVENT_KINDS),
    timestamp: moment('When it occurred.'),
    data: Type.Object({}, { additionalProperties: true, description: 'As in a delivery; see the kinds of events.' }),
    deliveries: Type.Array(
      Type.Object({
        endpoint_id: Type.String(),
        state: Type.Enum(DELIVERY_STATES, {
          description:
            '`waiting`: it is sent, or tried again. `expired`: the endpoint did not take it within 24 hours. `dropped`: the endpoint does not want it any more.',
        }),
        attempts: Type.Integer({ minimum: 0 }),
      }),
      { description: 'What became of it at each of today’s endpoints that wanted it.' },
    ),
  },
  { title: 'Event' },
);

type PresentedDelivery = { endpoint_id: string; state: DeliveryState; attempts: number };

export type EventRouteParts = {
  events: EventStore;
  endpoints: Pick<EndpointStore, 'listOf'>;
  deliveries: Pick<DeliveryStore, 'findAll'>;
  readTags: ReadTags;
};

/** What became of events at the organization's endpoints, by the ids of the events. */
async function deliveriesByEvent(
  { endpoints, deliveries }: EventRouteParts,
  organizationId: string,
  events: readonly EventRecord[],
): Promise<Map<string, PresentedDelivery[]>> {
  const known = await endpoints.listOf(organizationId);
  const ids = events.flatMap((event) => known.map((endpoint) => deliveryIdOf(event._id, endpoint._id)));
  const found = await deliveries.findAll(organizationId, ids);
  const now = new Date();
  const byEvent = Map.groupBy(found, ({ event_id }) => event_id);
  return new Map(
    [...byEvent].map(([id, made]) => [
      id,
      made.map((one) => ({ endpoint_id: one.endpoint_id, state: stateAt(one, now), attempts: one.attempts })),
    ]),
  );
}

/** The events of an organization, for receivers that no endpoint reaches, such as one that is being developed. */
export function eventRoutes(parts: EventRouteParts): Route<Caller>[] {
  const { events, readTags } = parts;
  const all = resource<{ id: string; deliveries: PresentedDelivery[] } & EventBody>({
    group: WEBHOOKS.group,
    path: `${WEBHOOKS.path}/events`,
    id: null,
    noun: 'event',
    permission: 'webhooks.manage',
    schema: EventSchema,
    presenter: () => (event) => event,
  });
  return [
    all.page({
      summary: 'List events',
      description:
        'Those of the last seven days with the bodies of their deliveries, newest first, whatever endpoints there are. Those of which archived tags leave nothing are missing, but `total` counts them: a page may have fewer items than its `limit`.',
      reply: 'A page of events.',
      query: {
        scan_id: Type.Optional(Type.String({ minLength: 1, maxLength: 100, description: 'Events of this scan.' })),
        from_ts: Type.Optional(moment('Events from then on.')),
        to_ts: Type.Optional(moment('Events before then.')),
      },
      refine: ({ query: { from_ts, to_ts } }) => rangeIssues('query', from_ts, to_ts),
      rows: async ({ organizationId, query: { scan_id, from_ts, to_ts } }, window) => {
        const { rows, total } = await events.page(organizationId, { scan_id, from: from_ts, to: to_ts }, window);
        const [tags, deliveries] = await Promise.all([
          readTags(organizationId, [...new Set(rows.flatMap(slugsOf))]),
          deliveriesByEvent(parts, organizationId, rows),
        ]);
        const sent = rows.flatMap((event) => {
          const body = bodyOf(event, tags);
          return body === null ? [] : [{ id: event._id, ...body, deliveries: deliveries.get(event._id) ?? [] }];
        });
        return { rows: sent, total };
      },
    }),
  ];
}
