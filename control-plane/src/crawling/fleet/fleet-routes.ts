import { NODE_ID } from '@adsweep/shared/lease/messages.ts';
import { Type } from 'typebox';
import { ApiError } from '../../http/api-error.ts';
import type { Caller } from '../../http/caller.ts';
import { pageQuery, pageSchema, presentPage, rowsOf } from '../../http/page.ts';
import { noContent, ok, type Route, route } from '../../http/route.ts';
import type { QueueLoad } from '../queue/read-depth.ts';
import { NODE_STATES, nodeStateOf } from './fleet-state.ts';
import type { FleetView } from './nodes.ts';
import { FleetNodeSchema, FleetSchema, presentFleet, presentNode } from './present-fleet.ts';

/** What the operator can read of the fleet, and the idempotent operations on nodes by name. */
export type FleetVerbs = {
  readFleet: FleetView['read'];
  readLoad: () => Promise<QueueLoad>;
  blockNode(nodeId: string): Promise<void>;
  unblockNode(nodeId: string): Promise<void>;
  /** Returns when the attempts that run on the node will have ended at the latest. */
  drainNode(nodeId: string): Promise<Date>;
  undrainNode(nodeId: string): Promise<void>;
};

const reading = { method: 'GET', group: 'Fleet', permission: 'fleet.read', errors: ['unavailable'] } as const;
const doing = {
  method: 'POST' as const,
  group: 'Fleet',
  permission: 'fleet.manage' as const,
  params: Type.Object({ id: Type.String({ pattern: NODE_ID }) }),
  replies: { 204: { description: 'Done, now or before.' } },
};

/** Operations of the API about the fleet of browser nodes. */
export function fleetRoutes(verbs: FleetVerbs): Route<Caller>[] {
  return [fleetRoute(verbs), nodesRoute(verbs), ...nodeVerbRoutes(verbs)];
}

function fleetRoute({ readFleet, readLoad }: FleetVerbs): Route<Caller> {
  return route({
    ...reading,
    path: '/api/v1/fleet',
    summary: 'State of the fleet',
    description: 'The number of jobs by state, and of nodes and slots. Only slots of nodes that take work count.',
    replies: { 200: { description: 'Queue, nodes and slots.', schema: FleetSchema } },
    handle: async () => {
      const [fleet, load] = await Promise.all([readFleet(), readLoad()]).catch(queueUnavailable);
      return ok(presentFleet(load, fleet));
    },
  });
}

function nodesRoute({ readFleet }: FleetVerbs): Route<Caller> {
  const query = {
    ...pageQuery,
    state: Type.Optional(Type.Enum(NODE_STATES, { description: 'Only nodes in this state.' })),
  };
  return route({
    ...reading,
    path: '/api/v1/fleet/nodes',
    summary: 'Browser nodes',
    description: 'Those that have reported within the last 30 seconds; two processes with one name are two items.',
    query: Type.Object(query, { additionalProperties: false }),
    replies: { 200: { description: 'A page of nodes, by their names.', schema: pageSchema(FleetNodeSchema) } },
    handle: async ({ query: asked }) => {
      const { nodes, marks } = await readFleet().catch(queueUnavailable);
      const { state } = asked;
      const found = nodes.filter((node) => !state || nodeStateOf(node, marks) === state);
      const { skip, limit } = rowsOf(asked);
      const items = found.slice(skip, skip + limit).map((node) => presentNode(node, marks));
      return ok(presentPage(items, found.length, asked));
    },
  });
}

function nodeVerbRoutes({ blockNode, unblockNode, drainNode, undrainNode }: FleetVerbs): Route<Caller>[] {
  return [
    route({
      ...doing,
      path: '/api/v1/fleet/nodes/{id}/block',
      summary: 'Block a node',
      description: 'Its calls get 403, and its running scans are queued again at once.',
      handle: ({ params }) => blockNode(params.id).then(noContent),
    }),
    route({
      ...doing,
      path: '/api/v1/fleet/nodes/{id}/unblock',
      summary: 'Unblock a node',
      description: 'It takes work again at its next report.',
      handle: ({ params }) => unblockNode(params.id).then(noContent),
    }),
    route({
      ...doing,
      path: '/api/v1/fleet/nodes/{id}/drain',
      summary: 'Drain a node',
      description:
        'It gets no more work from now on, releases the jobs that it has not started, and has `ADSWEEP_OPERATOR_DRAIN_SECONDS` (as long as an attempt may take) to finish the others; those that remain are then queued again. After that it is `drained` and can be stopped. The header `Drain-Until` says when they will have ended at the latest (ISO 8601). The drain applies to its name, also after a restart, until it is undrained.',
      handle: async ({ params }) => {
        const until = await drainNode(params.id);
        return { ...noContent(), headers: { 'Drain-Until': until.toISOString() } };
      },
    }),
    route({
      ...doing,
      path: '/api/v1/fleet/nodes/{id}/undrain',
      summary: 'End the drain of a node',
      description: 'It takes work again from its next report on.',
      handle: ({ params }) => undrainNode(params.id).then(noContent),
    }),
  ];
}

/** Throws the refusal of a request for which the queue did not answer. */
export function queueUnavailable(cause: unknown): never {
  throw new ApiError('unavailable', 'The queue is temporarily unavailable.', {
    cause,
    headers: { 'Retry-After': '1' },
  });
}
