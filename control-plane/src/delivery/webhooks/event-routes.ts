import { EVENT_KINDS } from '@adsweep/shared/events/event-kinds.ts';
import { Type } from 'typebox';
import type { Caller } from '../../http/caller.ts';
import { resource } from '../../http/resource-routes.ts';
import type { Route } from '../../http/route.ts';
import type { ReadTags } from '../../reference/tags/tag-definitions.ts';
import type { EventStore } from '../events/event-store.ts';
import { Moment, rangeIssues } from './delivery-routes.ts';
import { WEBHOOKS } from './endpoint-routes.ts';
import type { EventBody } from './event-types.ts';
import { bodyOf, slugsOf } from './send-event.ts';

const EventSchema = Type.Object(
  {
    id: Type.String({ description: 'The `webhook-id` of its deliveries.' }),
    type: Type.Enum(EVENT_KINDS),
    timestamp: Type.String({ format: 'date-time', description: 'When it occurred.' }),
    data: Type.Object({}, { additionalProperties: true, description: 'As in a delivery; see the kinds of events.' }),
  },
  { title: 'Event' },
);

/** The events of an organization, for receivers that no endpoint reaches, such as one that is being developed. */
export function eventRoutes({ events, readTags }: { events: EventStore; readTags: ReadTags }): Route<Caller>[] {
  const all = resource<{ id: string } & EventBody>({
    ...{ group: WEBHOOKS.group, path: `${WEBHOOKS.path}/events`, id: null, noun: 'event' },
    permission: 'webhooks.manage',
    schema: EventSchema,
    presenter: () => (event) => event,
  });
  return [
    all.page({
      summary: 'List events',
      description:
        'Those of the last seven days with the bodies of their deliveries, newest first, whatever endpoints there are. Those of which archived tags leave nothing are missing.',
      reply: 'A page of events.',
      query: {
        from_ts: Type.Optional(Moment('Events from then on.')),
        to_ts: Type.Optional(Moment('Events before then.')),
      },
      refine: ({ query: { from_ts, to_ts } }) => rangeIssues('query', from_ts, to_ts),
      rows: async ({ organizationId, query: { from_ts, to_ts } }, window) => {
        const { rows, total } = await events.page(organizationId, [from_ts, to_ts], window);
        const tags = await readTags(organizationId, [...new Set(rows.flatMap(slugsOf))]);
        const sent = rows.flatMap((event) => {
          const body = bodyOf(event, tags);
          return body === null ? [] : [{ id: event._id, ...body }];
        });
        return { rows: sent, total };
      },
    }),
  ];
}
