import { Type } from 'typebox';
import type { Caller } from '../../http/caller.ts';
import { pageQuery, pageSchema, presentPage, rowsOf } from '../../http/page.ts';
import { ok, type Route, route } from '../../http/route.ts';
import type { AuditRecord, AuditStore } from './audit-store.ts';

export type AuditParts = { readAuditLog: AuditStore['list'] };

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

/** Who changed the organization, its keys, roles, labels and quotas. */
export function auditRoutes({ readAuditLog }: AuditParts): Route<Caller>[] {
  return [
    route({
      group: 'Account',
      permission: 'account.manage',
      method: 'GET',
      path: '/api/v1/account/audit-log',
      summary: 'Audit log',
      description:
        'Who changed the organization, its API keys, roles, labels and quotas: newest first, within seconds, kept for ever.',
      query: Type.Object(pageQuery, { additionalProperties: false }),
      replies: { 200: { description: 'A page of entries.', schema: pageSchema(AuditEntrySchema) } },
      handle: async ({ caller, query }) => {
        const { rows, total } = await readAuditLog(caller.organizationId, rowsOf(query));
        return ok(presentPage(rows.map(presentEntry), total, query));
      },
    }),
  ];
}

function presentEntry({ _id, at, actor, action, subject_id, changes }: AuditRecord) {
  return { id: _id, at: at.toISOString(), actor, action, subject_id, changes };
}
