import { given } from '@adsweep/shared/validation/given.ts';
import type { Issue } from '@adsweep/shared/validation/issue.ts';
import { type Static, Type } from 'typebox';
import { notFound } from '../../http/api-error.ts';
import type { Caller } from '../../http/caller.ts';
import { ok, orNull, type Route, route } from '../../http/route.ts';
import { auditEntry } from '../audit/audit-entry.ts';
import type { InternalOrganizations } from '../organizations/internal-organizations.ts';
import { ORGANIZATION_STATUSES, type OrganizationRecord } from '../organizations/organization.ts';
import { quotaSchemas } from '../organizations/quota-schemas.ts';

export type AccountParts = {
  organizations: Pick<InternalOrganizations, 'find' | 'change'>;
  outboxFilled: () => void;
};

const EMAILS_MAX = 20;
const LABELS_MAX = 20;
const Name = Type.String({ minLength: 1, maxLength: 200, pattern: '\\S', description: 'Spaces around it are cut.' });
const Emails = Type.Array(Type.String({ format: 'email', maxLength: 254 }), {
  maxItems: EMAILS_MAX,
  description: 'Whom mails about the account and its webhooks go to.',
});
const TextOrNull = orNull(Type.String());

const AccountSchema = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    owner_id: TextOrNull,
    status: Type.Enum(ORGANIZATION_STATUSES),
    domain: TextOrNull,
    created_at: Type.String({ format: 'date-time' }),
    available_transitions: Type.Array(Type.Object({}), { description: 'The operator alone changes the status.' }),
    is_active: Type.Boolean(),
    contact_emails: Type.Array(Type.String()),
    ...quotaSchemas,
  },
  { title: 'Org' },
);
const AccountPatchSchema = Type.Object(
  { name: Type.Optional(orNull(Name)), contact_emails: Type.Optional(Emails) },
  {
    additionalProperties: false,
    minProperties: 1,
    title: 'OrgPatch',
    examples: [{ contact_emails: ['ads@example.com'] }],
  },
);

const LabelSchema = Type.Object(
  { key: Type.String(), display_name: Type.String(), position: Type.Integer(), auto_extract: Type.Boolean() },
  { title: 'Label' },
);
const LabelInSchema = Type.Object(
  {
    key: Type.String({ pattern: '^[a-z][a-z0-9_]*$', maxLength: 50 }),
    display_name: Type.String({ minLength: 1, maxLength: 100 }),
    auto_extract: Type.Optional(
      Type.Boolean({
        default: false,
        description: 'Whether the AI model, where one is set, fills the label in on scans that were sent without it.',
      }),
    ),
  },
  { additionalProperties: false, title: 'LabelIn' },
);
const LabelsInSchema = Type.Object(
  { labels: Type.Array(LabelInSchema, { maxItems: LABELS_MAX, description: 'All of them, in their order.' }) },
  {
    additionalProperties: false,
    title: 'LabelsIn',
    examples: [{ labels: [{ key: 'team', display_name: 'Team' }] }],
  },
);

const shared = { group: 'Account', permission: 'account.manage' } as const;

/** The caller's own organization, and the labels that it uses. */
export function accountRoutes(parts: AccountParts): Route<Caller>[] {
  return [...ownRoutes(parts), ...labelRoutes(parts)];
}

function ownRoutes({ organizations, outboxFilled }: AccountParts): Route<Caller>[] {
  return [
    route({
      ...shared,
      method: 'GET',
      path: '/api/v1/account',
      summary: 'Your organization',
      replies: { 200: { description: 'The organization of the key.', schema: AccountSchema } },
      errors: ['not_found'],
      handle: async ({ caller }) => ok(presentAccount(found(await organizations.find(caller.organizationId)))),
    }),
    route({
      ...shared,
      method: 'PATCH',
      path: '/api/v1/account',
      summary: 'Change your organization',
      description: 'Its name and whom mails go to; what is not named, or null, stays.',
      body: AccountPatchSchema,
      replies: { 200: { description: 'The organization as it is now.', schema: AccountSchema } },
      errors: ['not_found'],
      handle: async ({ caller, body: { name, contact_emails } }) => {
        const changes = { ...(name && { name: name.trim() }), ...(contact_emails && { contact_emails }) };
        const audit = auditEntry(caller, 'account.changed', caller.organizationId, changes, new Date());
        const organization = found(await organizations.change(caller.organizationId, changes, [audit]));
        outboxFilled();
        return ok(presentAccount(organization));
      },
    }),
  ];
}

function labelRoutes({ organizations, outboxFilled }: AccountParts): Route<Caller>[] {
  const labels = { ...shared, path: '/api/v1/account/labels', errors: ['not_found'] } as const;
  const replies = { 200: { description: 'The labels, in their order.', schema: Type.Array(LabelSchema) } };
  return [
    route({
      ...labels,
      method: 'GET',
      summary: 'Labels',
      description:
        'The labels that the organization uses. A scan may carry others. One with `auto_extract` is filled in by the AI model, where one is set, on scans that were sent without it.',
      replies,
      handle: async ({ caller }) => ok(presentLabels(found(await organizations.find(caller.organizationId)))),
    }),
    route({
      ...labels,
      method: 'PUT',
      summary: 'Replace the labels',
      description: 'The whole list; an empty one removes all. Scans keep what they carry.',
      body: LabelsInSchema,
      replies,
      refine: ({ body }) => labelIssues(body.labels ?? []),
      handle: async ({ caller, body }) => {
        const { labels } = body;
        const audit = auditEntry(caller, 'labels.replaced', caller.organizationId, { labels }, new Date());
        const organization = found(await organizations.change(caller.organizationId, { labels }, [audit]));
        outboxFilled();
        return ok(presentLabels(organization));
      },
    }),
  ];
}

function found(organization: OrganizationRecord | null): OrganizationRecord {
  if (!organization) throw notFound('organization');
  return organization;
}

function labelIssues(labels: Partial<Static<typeof LabelInSchema>>[]): Issue[] {
  const keys = labels.map((label) => label?.key);
  return keys.flatMap((key, at): Issue[] => {
    if (key === undefined || keys.indexOf(key) === at) return [];
    const loc = ['body', 'labels', at, 'key'];
    return [{ loc, msg: 'Must not name a key twice.', type: 'duplicate_items', ctx: given(key) }];
  });
}

function presentAccount({ _id, name, status, contact_emails, quotas, created_at }: OrganizationRecord) {
  return {
    ...{ id: _id, name, owner_id: null, status, domain: null, created_at: created_at.toISOString() },
    ...{ available_transitions: [], is_active: status === 'active', contact_emails, ...quotas },
  };
}

const presentLabels = ({ labels = [] }: OrganizationRecord) =>
  labels.map((label, position) => ({ auto_extract: false, ...label, position }));
