import { Type } from 'typebox';
import { notFound } from '../../http/api-error.ts';
import type { Caller } from '../../http/caller.ts';
import { type PageQuery, pageQuery, pageSchema, presentPage, rowsOf } from '../../http/page.ts';
import { ok, type Route, route } from '../../http/route.ts';
import type { AuditRecord, AuditStore } from './audit-store.ts';

export type AuditParts = {
  readAuditLog: AuditStore['list'];
  /** Null for an organization that is not there. */
  organizations: { find: (id: string) => Promise<object | null> };
};

const AuditEntrySchema = Type.Object(
  {
    id: Type.String(),
    at: Type.String({ format: 'date-time' }),
    actor: Type.Object({
      kind: Type.Union([Type.Literal('operator'), Type.Literal('api_key')]),
      key_id: Type.String({ description: 'The API key that the request came with.' }),
    }),
    action: Type.String({ description: 'An open list, such as `api_key.created`.' }),
    subject_id: Type.String({ description: 'What was changed.' }),
    changes: Type.Object({}, { additionalProperties: true, description: 'The new values.' }),
  },
  { title: 'AuditEntry' },
);

const WHAT =
  'Who changed the organization, its API keys, roles, labels and quotas: newest first, within seconds, kept for ever.';
const shared = {
  method: 'GET',
  query: Type.Object(pageQuery, { additionalProperties: false }),
  replies: { 200: { description: 'A page of entries.', schema: pageSchema(AuditEntrySchema) } },
} as const;

/** The audit log of the caller's own organization, and of any one for the operator. */
export function auditRoutes({ readAuditLog, organizations }: AuditParts): Route<Caller>[] {
  const page = async (organizationId: string, query: PageQuery) => {
    const { rows, total } = await readAuditLog(organizationId, rowsOf(query));
    return ok(presentPage(rows.map(presentEntry), total, query));
  };
  return [
    route({
      ...shared,
      group: 'Account',
      permission: 'account.manage',
      path: '/api/v1/account/audit-log',
      summary: 'Audit log',
      description: WHAT,
      handle: ({ caller, query }) => page(caller.organizationId, query),
    }),
    route({
      ...shared,
      group: 'Organizations',
      permission: 'organizations.manage',
      path: '/api/v1/organizations/{id}/audit-log',
      summary: 'Audit log of an organization',
      description: `${WHAT} Changes by the operator are among them.`,
      params: Type.Object({ id: Type.String() }),
      errors: ['not_found'],
      handle: async ({ params, query }) => {
        if (!(await organizations.find(params.id))) throw notFound('organization');
        return page(params.id, query);
      },
    }),
  ];
}

function presentEntry({ _id, at, actor, action, subject_id, changes }: AuditRecord) {
  return { id: _id, at: at.toISOString(), actor, action, subject_id, changes };
}
