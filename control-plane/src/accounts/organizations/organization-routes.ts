import { newApiKey, newId } from '@adsweep/shared/ids.ts';
import { type Static, Type } from 'typebox';
import { notFound } from '../../http/api-error.ts';
import type { Caller } from '../../http/caller.ts';
import { pageQuery, pageSchema, presentPage, rowsOf } from '../../http/page.ts';
import { created, ok, orNull, type Route, route } from '../../http/route.ts';
import type { OutboxEntry } from '../../platform/outbox/outbox-entry.ts';
import { auditEntry } from '../audit/audit-entry.ts';
import { ORGANIZATION_STATUSES, type OrganizationRecord } from './organization.ts';
import type { OrganizationChange, OrganizationStore } from './organization-store.ts';
import { quotaSchemas } from './quota-schemas.ts';
import { NO_QUOTAS } from './quotas.ts';

/** What the operations on organizations need; `addOrganization` stores one with its first key. */
export type OrganizationParts = {
  organizations: Pick<OrganizationStore, 'list' | 'change'>;
  addOrganization: (
    organization: Pick<OrganizationRecord, '_id' | 'name'>,
    apiKey: { key: string; expiresAt: Date | null },
    audit: OutboxEntry<'audit'>,
  ) => Promise<unknown>;
  outboxFilled: () => void;
};

const Name = Type.String({ minLength: 1, maxLength: 200 });
const Price = orNull(
  Type.Integer({
    minimum: 0,
    maximum: 1_000_000_000,
    description: 'What a check costs it, in micros; null: what the settings say.',
  }),
);
const OrganizationSchema = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    status: Type.Enum(ORGANIZATION_STATUSES),
    check_price_micros: Price,
    ...quotaSchemas,
    created_at: Type.String({ format: 'date-time' }),
  },
  { title: 'Organization' },
);
const OrganizationInSchema = Type.Object(
  { name: Name },
  { additionalProperties: false, title: 'OrganizationIn', examples: [{ name: 'Example Agency' }] },
);
const OrganizationNewSchema = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    api_key: Type.String({ description: 'Its first key, for everything within it. It is shown here and never again.' }),
  },
  { title: 'OrganizationNew' },
);
const OrganizationPatchSchema = Type.Object(
  {
    name: Type.Optional(Name),
    status: Type.Optional(Type.Enum(ORGANIZATION_STATUSES)),
    check_price_micros: Type.Optional(Price),
    checks_per_month: Type.Optional(quotaSchemas.checks_per_month),
    concurrent_leases: Type.Optional(quotaSchemas.concurrent_leases),
    requests_per_minute: Type.Optional(quotaSchemas.requests_per_minute),
  },
  { additionalProperties: false, minProperties: 1, title: 'OrganizationPatch' },
);

const shared = { group: 'Organizations', permission: 'organizations.manage' } as const;

/** The organizations of this deployment, for its operator. */
export function organizationRoutes({
  organizations,
  addOrganization,
  outboxFilled,
}: OrganizationParts): Route<Caller>[] {
  return [
    route({
      ...shared,
      method: 'GET',
      path: '/api/v1/organizations',
      summary: 'Organizations',
      query: Type.Object(pageQuery, { additionalProperties: false }),
      replies: {
        200: { description: 'A page of organizations, oldest first.', schema: pageSchema(OrganizationSchema) },
      },
      handle: async ({ query }) => {
        const { rows, total } = await organizations.list(rowsOf(query));
        return ok(presentPage(rows.map(presentOrganization), total, query));
      },
    }),
    route({
      ...shared,
      method: 'POST',
      path: '/api/v1/organizations',
      summary: 'Create an organization',
      body: OrganizationInSchema,
      replies: {
        201: { description: 'The organization, `active`, with its first key.', schema: OrganizationNewSchema },
      },
      answersSecret: true,
      handle: async ({ caller, body: { name }, recordId: id = newId() }) => {
        const apiKey = newApiKey();
        await addOrganization(
          { _id: id, name },
          // It lasts no longer than the key that makes it.
          { key: apiKey, expiresAt: caller.expiresAt },
          auditEntry(caller, 'organization.created', id, { name }, new Date()),
        );
        outboxFilled();
        return created({ id, name, api_key: apiKey });
      },
    }),
    route({
      ...shared,
      method: 'PATCH',
      path: '/api/v1/organizations/{id}',
      summary: 'Change an organization',
      description:
        'Of its name, status, price and quotas, what is named is changed, within a second; `concurrent_leases` within five. One that is not `active` reads what it has and creates no scans.',
      params: Type.Object({ id: Type.String() }),
      body: OrganizationPatchSchema,
      replies: { 200: { description: 'The organization as it is now.', schema: OrganizationSchema } },
      errors: ['not_found'],
      handle: async ({ caller, params, body }) => {
        const organization = await organizations.change(params.id, changeOf(body), [
          auditEntry(caller, 'organization.changed', params.id, body, new Date()),
        ]);
        if (!organization) throw notFound('organization');
        outboxFilled();
        return ok(presentOrganization(organization));
      },
    }),
  ];
}

/** Quotas stand beside the other fields in a request, and together in the record. */
function changeOf(body: Static<typeof OrganizationPatchSchema>): OrganizationChange {
  const [named, quotas] = [Object.entries(body), new Set(Object.keys(NO_QUOTAS))];
  const [limits, others] = [true, false].map((isQuota) => named.filter(([name]) => quotas.has(name) === isQuota));
  return { ...Object.fromEntries(others!), quotas: Object.fromEntries(limits!) };
}

function presentOrganization({ _id, name, status, check_price_micros, quotas, created_at }: OrganizationRecord) {
  return { id: _id, name, status, check_price_micros, ...quotas, created_at: created_at.toISOString() };
}
