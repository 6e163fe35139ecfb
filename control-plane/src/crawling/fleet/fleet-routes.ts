import { NODE_ID } from '@adsweep/shared/lease/messages.ts';
import { Type } from 'typebox';
import type { Caller } from '../../http/caller.ts';
import { noContent, type Route, route } from '../../http/route.ts';

/** What the operator can do about nodes, by their names; both can be repeated. */
export type FleetVerbs = {
  blockNode(nodeId: string): Promise<void>;
  unblockNode(nodeId: string): Promise<void>;
};

const shared = {
  method: 'POST' as const,
  group: 'Fleet',
  permission: 'fleet.manage' as const,
  params: Type.Object({ id: Type.String({ pattern: NODE_ID }) }),
  replies: { 204: { description: 'Done, now or before.' } },
};

/** Operations of the API about the fleet of browser nodes. */
export function fleetRoutes({ blockNode, unblockNode }: FleetVerbs): Route<Caller>[] {
  return [
    route({
      ...shared,
      path: '/api/v1/fleet/nodes/{id}/block',
      summary: 'Block a node',
      description: 'Its calls are answered 403, and the scans it was working on go back to the queue at once.',
      handle: ({ params }) => blockNode(params.id).then(noContent),
    }),
    route({
      ...shared,
      path: '/api/v1/fleet/nodes/{id}/unblock',
      summary: 'Unblock a node',
      description: 'It takes work again at its next report.',
      handle: ({ params }) => unblockNode(params.id).then(noContent),
    }),
  ];
}
