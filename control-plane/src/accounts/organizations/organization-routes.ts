import { newApiKey } from '@adsweep/shared/ids.ts';
import { type Static, Type } from 'typebox';
import type { Caller } from '../../http/caller.ts';
import { resource } from '../../http/resource-routes.ts';
import { moment, orNull, type Route } from '../../http/route.ts';
import type { OutboxEntry } from '../../platform/outbox/outbox-entry.ts';
import { NO_QUOTAS, ORGANIZATION_STATUSES, type OrganizationRecord } from './organization.ts';
import type { OrganizationChange, OrganizationStore } from './organization-store.ts';

export type OrganizationParts = {
  organizations: Pick<OrganizationStore, 'list' | 'change'>;
  /** Stores an organization with its first key. */
  addOrganization: (
    organization: Pick<OrganizationRecord, '_id' | 'name'>,
    apiKey: { key: string; expiresAt: Date | null },
    audit: OutboxEntry<'audit'>,
  ) => Promise<unknown>;
  outboxFilled: () => void;
};

const QUOTA_MAX = 1_000_000_000;

const limit = (minimum: number, description: string) =>
  orNull(Type.Integer({ minimum, maximum: QUOTA_MAX, description: `${description}; null: unlimited.` }));

/** The quotas of an organization, in requests and responses. */
export const quotaSchemas = {
  checks_per_month: limit(0, 'Checks in a calendar month (UTC); refunded ones do not count'),
  concurrent_leases: limit(1, 'Crawl jobs that are leased at the same time'),
  requests_per_minute: limit(1, 'API requests in a minute, over all keys of the organization'),
};

const Name = Type.String({ minLength: 1, maxLength: 200 });
const Price = orNull(
  Type.Integer({
    minimum: 0,
    maximum: 1_000_000_000,
    description: 'Price of a check, in micros; null: the price in the settings.',
  }),
);
const OrganizationSchema = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    status: Type.Enum(ORGANIZATION_STATUSES),
    check_price_micros: Price,
    ...quotaSchemas,
    created_at: moment(),
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
    api_key: Type.String({
      description: 'Its first key, with all permissions within the organization. It is shown only in this response.',
    }),
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

/** The organizations of this deployment, for its operator. */
export function organizationRoutes({
  organizations,
  addOrganization,
  outboxFilled,
}: OrganizationParts): Route<Caller>[] {
  const all = resource<OrganizationRecord>({
    group: 'Organizations',
    path: '/api/v1/organizations',
    id: { name: 'id' },
    noun: 'organization',
    permission: 'organizations.manage',
    schema: OrganizationSchema,
    presenter: () => presentOrganization,
    written: outboxFilled,
  });
  return [
    all.page({
      summary: 'Organizations',
      reply: 'A page of organizations, oldest first.',
      rows: (_, window) => organizations.list(window),
    }),
    all.create({
      summary: 'Create an organization',
      body: OrganizationInSchema,
      reply: 'The organization, `active`, with its first key.',
      schema: OrganizationNewSchema,
      presenter: () => (created: Static<typeof OrganizationNewSchema>) => created,
      answersSecret: true,
      create: async ({ caller, id, body: { name }, audit }) => {
        const api_key = newApiKey();
        // The first key expires no later than the key that creates it.
        const first = { key: api_key, expiresAt: caller.expiresAt };
        await addOrganization({ _id: id, name }, first, audit('organization.created', id, { name }));
        return { id, name, api_key };
      },
    }),
    all.change({
      summary: 'Change an organization',
      description:
        'Omitted fields keep their values. Changes take effect within a second, those of `concurrent_leases` within five. An organization that is not `active` can read its data but create nothing.',
      body: OrganizationPatchSchema,
      reply: 'The changed organization.',
      change: ({ id, body, audit }) =>
        organizations.change(id, changeOf(body), [audit('organization.changed', id, body)]),
    }),
  ];
}

/** Quotas are top-level fields in the request and an object in the record. */
function changeOf(body: Static<typeof OrganizationPatchSchema>): OrganizationChange {
  const [named, quotas] = [Object.entries(body), new Set(Object.keys(NO_QUOTAS))];
  const [limits, others] = [true, false].map((isQuota) => named.filter(([name]) => quotas.has(name) === isQuota));
  return { ...Object.fromEntries(others!), quotas: Object.fromEntries(limits!) };
}

function presentOrganization({ _id, name, status, check_price_micros, quotas, created_at }: OrganizationRecord) {
  return { id: _id, name, status, check_price_micros, ...quotas, created_at: created_at.toISOString() };
}
