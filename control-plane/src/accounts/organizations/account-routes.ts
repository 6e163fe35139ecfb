import { given } from '@adsweep/shared/validation/given.ts';
import type { Issue } from '@adsweep/shared/validation/issue.ts';
import { type Static, Type } from 'typebox';
import type { Caller } from '../../http/caller.ts';
import { resource } from '../../http/resource-routes.ts';
import { moment, orNull, type Route } from '../../http/route.ts';
import { ORGANIZATION_STATUSES, type OrganizationRecord } from './organization.ts';
import { quotaSchemas } from './organization-routes.ts';
import type { OrganizationStore } from './organization-store.ts';

export type AccountParts = {
  organizations: Pick<OrganizationStore, 'find' | 'change'>;
  outboxFilled: () => void;
};

const EMAILS_MAX = 20;
const LABELS_MAX = 20;
const Name = Type.String({
  minLength: 1,
  maxLength: 200,
  pattern: '\\S',
  description: 'Leading and trailing spaces are removed.',
});
const Emails = Type.Array(Type.String({ format: 'email', maxLength: 254 }), {
  maxItems: EMAILS_MAX,
  description: 'Recipients of mails about the account and its webhooks.',
});
const TextOrNull = orNull(Type.String());

const AccountSchema = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    owner_id: TextOrNull,
    status: Type.Enum(ORGANIZATION_STATUSES),
    domain: TextOrNull,
    created_at: moment(),
    available_transitions: Type.Array(Type.Object({}), {
      description: 'Always empty: only the operator can change the status.',
    }),
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
        description:
          'Whether the AI model, if one is configured, fills in the label on scans that were created without it.',
      }),
    ),
  },
  { additionalProperties: false, title: 'LabelIn' },
);
const LabelsInSchema = Type.Object(
  { labels: Type.Array(LabelInSchema, { maxItems: LABELS_MAX, description: 'All labels, in the order of display.' }) },
  {
    additionalProperties: false,
    title: 'LabelsIn',
    examples: [{ labels: [{ key: 'team', display_name: 'Team' }] }],
  },
);

/** The caller's own organization, and its labels. */
export function accountRoutes(parts: AccountParts): Route<Caller>[] {
  return [...ownRoutes(parts), ...labelRoutes(parts)];
}

/**
 * Common properties of the account and its labels: both have one item per organization, which is part of its record.
 */
const ofOrganization = { group: 'Account', id: null, noun: 'organization', permission: 'account.manage' } as const;

function ownRoutes({ organizations, outboxFilled }: AccountParts): Route<Caller>[] {
  const account = resource<OrganizationRecord>({
    ...ofOrganization,
    path: '/api/v1/account',
    schema: AccountSchema,
    presenter: () => presentAccount,
    written: outboxFilled,
  });
  return [
    account.read({
      summary: 'Your organization',
      reply: 'The organization of the API key.',
      errors: ['not_found'],
      find: ({ organizationId }) => organizations.find(organizationId),
    }),
    account.change({
      summary: 'Change your organization',
      description: 'Changes its name and contacts. Omitted fields keep their values, and so does a name that is null.',
      body: AccountPatchSchema,
      reply: 'The changed organization.',
      errors: ['not_found'],
      change: ({ organizationId, body: { name, contact_emails }, audit }) => {
        const changes = { ...(name && { name: name.trim() }), ...(contact_emails && { contact_emails }) };
        return organizations.change(organizationId, changes, [audit('account.changed', organizationId, changes)]);
      },
    }),
  ];
}

function labelRoutes({ organizations, outboxFilled }: AccountParts): Route<Caller>[] {
  const labels = resource<OrganizationRecord>({
    ...ofOrganization,
    path: '/api/v1/account/labels',
    schema: Type.Array(LabelSchema),
    presenter: () => presentLabels,
    written: outboxFilled,
  });
  return [
    labels.read({
      summary: 'Labels',
      description:
        'The labels that the organization has defined. A scan can have other labels too. The AI model, if one is configured, fills in a label with `auto_extract` on scans that were created without it.',
      reply: 'The labels, in the order of display.',
      errors: ['not_found'],
      find: ({ organizationId }) => organizations.find(organizationId),
    }),
    labels.change({
      method: 'PUT',
      summary: 'Replace the labels',
      description:
        'Replaces the whole list; an empty list removes all labels. The labels of existing scans do not change.',
      body: LabelsInSchema,
      reply: 'The labels, in the order of display.',
      errors: ['not_found'],
      refine: ({ body }) => labelIssues(body.labels ?? []),
      change: ({ organizationId, body: { labels }, audit }) =>
        organizations.change(organizationId, { labels }, [audit('labels.replaced', organizationId, { labels })]),
    }),
  ];
}

function labelIssues(labels: Partial<Static<typeof LabelInSchema>>[]): Issue[] {
  const keys = labels.map((label) => label?.key);
  return keys.flatMap((key, at): Issue[] => {
    if (key === undefined || keys.indexOf(key) === at) return [];
    const loc = ['body', 'labels', at, 'key'];
    return [{ loc, msg: 'Must not repeat a key.', type: 'duplicate_items', ctx: given(key) }];
  });
}

function presentAccount({ _id, name, status, contact_emails, quotas, created_at }: OrganizationRecord) {
  return {
    id: _id,
    name,
    owner_id: null,
    status,
    domain: null,
    created_at: created_at.toISOString(),
    available_transitions: [],
    is_active: status === 'active',
    contact_emails,
    ...quotas,
  };
}

const presentLabels = ({ labels = [] }: OrganizationRecord) =>
  labels.map((label, position) => ({ auto_extract: false, ...label, position }));
