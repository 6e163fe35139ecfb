import { Type } from 'typebox';
import type { Caller } from '../../http/caller.ts';
import { resource } from '../../http/resource-routes.ts';
import { moment, orNull, type Route } from '../../http/route.ts';
import type { AuditRecord, AuditStore } from './audit-store.ts';

export type AuditParts = {
  readAuditLog: AuditStore['list'];
  organizations: { find: (id: string) => Promise<object | null> };
};

const AuditEntrySchema = Type.Object(
  {
    id: Type.String(),
    at: moment(),
    actor: Type.Object({
      kind: Type.Union([Type.Literal('operator'), Type.Literal('api_key'), Type.Literal('oauth_client')]),
      key_id: Type.String({
        description:
          'The API key of the request, or the one that was signed in with; the client, if an OAuth client acted for itself.',
      }),
      client_id: orNull(Type.String({ description: 'The OAuth client of the request; null: it had an API key.' })),
    }),
    action: Type.String({ description: 'What was done, such as `api_key.created`. New values can be added.' }),
    subject_id: Type.String({ description: 'The id of the changed record.' }),
    changes: Type.Object({}, { additionalProperties: true, description: 'The new values.' }),
  },
  { title: 'AuditEntry' },
);

const DESCRIPTION =
  'Changes of the organization, its API keys, roles, labels and quotas, and who made them, newest first. Entries appear within seconds and are never deleted.';

/** The audit log of the caller's own organization, and of any organization for the operator. */
export function auditRoutes({ readAuditLog, organizations }: AuditParts): Route<Caller>[] {
  const log = { id: null, noun: 'organization', schema: AuditEntrySchema, presenter: () => presentEntry };
  const own = resource<AuditRecord>({
    ...log,
    group: 'Account',
    path: '/api/v1/account/audit-log',
    permission: 'account.manage',
  });
  const ofAny = resource<AuditRecord>({
    ...log,
    group: 'Organizations',
    path: '/api/v1/organizations/{id}/audit-log',
    permission: 'organizations.manage',
  });
  return [
    own.page({
      summary: 'Audit log',
      description: DESCRIPTION,
      reply: 'A page of entries.',
      rows: ({ organizationId }, window) => readAuditLog(organizationId, window),
    }),
    ofAny.page({
      summary: 'Audit log of an organization',
      description: `${DESCRIPTION} Changes by the operator are included.`,
      reply: 'A page of entries.',
      rows: async ({ params: { id = '' } }, window) =>
        (await organizations.find(id)) ? readAuditLog(id, window) : null,
    }),
  ];
}

function presentEntry({ _id, at, actor, action, subject_id, changes }: AuditRecord) {
  return { id: _id, at: at.toISOString(), actor: { client_id: null, ...actor }, action, subject_id, changes };
}
