import { AddedMembersSchema, type AddMembers, AddMembersSchema } from '@adsweep/shared/lease/messages.ts';
import { ok, type Route, route } from '../../http/route.ts';
import type { WorkMetrics } from '../../metrics.ts';
import { type AddDependencies, addMembers } from '../leases/add-members.ts';
import { CAPTURE_BODY, leaseLost, leaseOf, leaseParams, type NodeCaller } from './admit-node.ts';

export type MemberDependencies = AddDependencies & {
  metrics: AddDependencies['metrics'] & Pick<WorkMetrics, 'lateResults'>;
};

/** How a node adds the scans that it has found to the job that it has leased. */
export function memberRoutes(dependencies: MemberDependencies): Route<NodeCaller>[] {
  return [
    route({
      method: 'POST',
      path: '/node/v1/leases/{id}/members',
      group: 'Leases',
      summary: 'Add scans that were found to the job; can be repeated',
      permission: 'lease',
      params: leaseParams,
      body: AddMembersSchema,
      bodyBounds: CAPTURE_BODY,
      replies: { 200: { description: 'How each slot stands.', schema: AddedMembersSchema } },
      errors: ['lease.lost', 'validation_error', 'billing.quota_exhausted', 'billing.insufficient_funds'],
      handle: async ({ caller, body }: { caller: NodeCaller; body: AddMembers }) => {
        const members = await addMembers(dependencies, leaseOf(caller), body.members, new Date());
        if (members === 'lost') throw leaseLost(dependencies.metrics, 'members');
        return ok({ members });
      },
    }),
  ];
}
