import { NODE_ID } from '@adsweep/shared/lease/messages.ts';
import { Type } from 'typebox';
import { notFound } from '../../http/api-error.ts';
import type { Caller } from '../../http/caller.ts';
import { pageQuery, pageSchema, presentPage, rowsOf } from '../../http/page.ts';
import { moment, noContent, ok, type Route, route } from '../../http/route.ts';
import type { Enrolment, Enrolments } from './enrolments.ts';

/** What the operator can do about the enrolment of nodes. */
export type EnrolmentVerbs = Pick<Enrolments, 'invite' | 'list'> & {
  /** Ends a node's credentials, its open calls and its leases; false: there is no such enrolment. */
  revokeNode(nodeId: string): Promise<boolean>;
};

const ENROLMENT_STATES = ['invited', 'enrolled', 'expired', 'revoked'] as const;
type EnrolmentState = (typeof ENROLMENT_STATES)[number];

const momentOrNull = (description: string) => Type.Union([moment(), Type.Null()], { description });

const EnrolmentSchema = Type.Object(
  {
    node_id: Type.String({ description: "The node's name." }),
    state: Type.Enum(ENROLMENT_STATES, {
      description:
        '`invited`: its first token was not used yet. `enrolled`: it has a credential. `expired`: its credential has ended. `revoked`: the operator ended it.',
    }),
    token_expires_at: momentOrNull('Until when a token can be used that was not; null: there is none.'),
    enrolled_at: momentOrNull('When its last token was used.'),
    credential_expires_at: momentOrNull('When its credential ends unless it is rotated.'),
    revoked_at: momentOrNull('When the operator ended it.'),
  },
  { title: 'NodeEnrolment' },
);

const TokenSchema = Type.Object(
  {
    node_id: Type.String(),
    token: Type.String({ description: 'For `ADSWEEP_ENROLMENT_TOKEN` of the node. It is shown once.' }),
    expires_at: moment(),
  },
  { title: 'NodeEnrolmentToken' },
);

const HOUR_S = 3_600;

const shared = { group: 'Fleet', permission: 'fleet.manage' } as const;

/** Operations of the API about the enrolment of browser nodes. */
export function enrolmentRoutes({ invite, list, revokeNode }: EnrolmentVerbs): Route<Caller>[] {
  return [
    route({
      ...shared,
      permission: 'fleet.read',
      method: 'GET',
      path: '/api/v1/fleet/enrolments',
      summary: 'Enrolments of nodes',
      description: 'One for each name that a token was made for.',
      query: Type.Object(pageQuery, { additionalProperties: false }),
      replies: { 200: { description: 'A page of enrolments, by name.', schema: pageSchema(EnrolmentSchema) } },
      handle: async ({ query }) => {
        const { skip, limit } = rowsOf(query);
        const { rows, total } = await list(skip, limit);
        return ok(
          presentPage(
            rows.map((one) => presentEnrolment(one, new Date())),
            total,
            query,
          ),
        );
      },
    }),
    route({
      ...shared,
      method: 'POST',
      path: '/api/v1/fleet/enrolments',
      operationId: 'createEnrolmentToken',
      summary: 'Create an enrolment token',
      description:
        'A token that one node of this name can exchange once for a credential of its own. It replaces a token that was not used. Once it is used, an earlier enrolment of the name ends.',
      body: Type.Object(
        {
          node_id: Type.String({ pattern: NODE_ID }),
          expires_in_seconds: Type.Optional(Type.Integer({ minimum: 60, maximum: 24 * HOUR_S, default: HOUR_S })),
        },
        { additionalProperties: false },
      ),
      answersSecret: true,
      replies: { 201: { description: 'The token.', schema: TokenSchema } },
      handle: async ({ body: { node_id, expires_in_seconds = HOUR_S } }) => {
        const expiresAt = new Date(Date.now() + expires_in_seconds * 1000);
        const token = await invite(node_id, expiresAt);
        return { status: 201, body: { node_id, token, expires_at: expiresAt.toISOString() } };
      },
    }),
    route({
      ...shared,
      method: 'POST',
      path: '/api/v1/fleet/enrolments/{id}/revoke',
      operationId: 'revokeNode',
      summary: 'Revoke the enrolment of a node',
      description:
        'Its next call and its open long poll get 401, and its running scans are queued again at once. Its name stays closed to the join token, until a new token is used.',
      params: Type.Object({ id: Type.String({ pattern: NODE_ID }) }),
      replies: { 204: { description: 'Done, now or before.' } },
      errors: ['not_found'],
      handle: async ({ params }) => {
        if (!(await revokeNode(params.id))) throw notFound('enrolment');
        return noContent();
      },
    }),
  ];
}

function stateOf({ enrolled_at, revoked_at, credential, next }: Enrolment, now: Date): EnrolmentState {
  if (revoked_at) return 'revoked';
  if (!enrolled_at) return 'invited';
  return [credential, next].some((one) => one && one.expires_at > now) ? 'enrolled' : 'expired';
}

/** An enrolment as clients see it, without hashes. */
function presentEnrolment(enrolment: Enrolment, now: Date) {
  const { _id, token, credential, enrolled_at, revoked_at } = enrolment;
  const isOpen = token && token.credential === null && token.expires_at > now;
  return {
    node_id: _id,
    state: stateOf(enrolment, now),
    token_expires_at: isOpen ? token.expires_at.toISOString() : null,
    enrolled_at: enrolled_at?.toISOString() ?? null,
    credential_expires_at: credential?.expires_at.toISOString() ?? null,
    revoked_at: revoked_at?.toISOString() ?? null,
  };
}
