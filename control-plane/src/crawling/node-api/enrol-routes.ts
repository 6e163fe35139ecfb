import { CredentialHashSchema, EnrolledSchema, NODE_ID } from '@adsweep/shared/lease/messages.ts';
import { Type } from 'typebox';
import { ok, type Route, route } from '../../http/route.ts';
import type { Enrolments } from '../fleet/enrolments.ts';
import { enrolledOf, NODE_BODY, type NodeCaller, notValid, sentByNode } from './admit-node.ts';

const shared = {
  method: 'POST' as const,
  group: 'Nodes',
  params: Type.Object({ id: Type.String({ pattern: NODE_ID }) }),
  body: CredentialHashSchema,
  bodyBounds: NODE_BODY,
  beforeBody: sentByNode,
  replies: { 200: { description: 'When the credential ends.', schema: EnrolledSchema } },
  errors: ['node.blocked'] as const,
};

/** The routes by which a node gets and replaces a credential of its own. The node makes it and sends its hash alone. */
export function enrolRoutes({
  enrolments,
}: {
  enrolments: Pick<Enrolments, 'exchange' | 'rotate'>;
}): Route<NodeCaller>[] {
  return [
    route({
      ...shared,
      path: '/node/v1/nodes/{id}/enrol',
      permission: 'enrol',
      summary: 'Exchange a one-time token for a credential',
      handle: async ({ caller, body }: { caller: NodeCaller; body: { sha256: string } }) => {
        const { nodeId, hash } = enrolledOf(caller);
        const expiresAt = await enrolments.exchange(nodeId, hash, body.sha256, new Date());
        if (!expiresAt) throw notValid('enrol');
        return ok({ expires_at: expiresAt.toISOString() });
      },
    }),
    route({
      ...shared,
      path: '/node/v1/nodes/{id}/rotate',
      permission: 'enrolled',
      summary: 'Replace the credential of an enrolled node',
      handle: async ({ caller, body }: { caller: NodeCaller; body: { sha256: string } }) => {
        const expiresAt = await enrolments.rotate(enrolledOf(caller), body.sha256, new Date());
        if (!expiresAt) throw notValid('enrolled');
        return ok({ expires_at: expiresAt.toISOString() });
      },
    }),
  ];
}
