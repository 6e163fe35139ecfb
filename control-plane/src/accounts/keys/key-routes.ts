import { newApiKey } from '@adsweep/shared/ids.ts';
import { given } from '@adsweep/shared/validation/given.ts';
import type { Issue } from '@adsweep/shared/validation/issue.ts';
import { Type } from 'typebox';
import { ApiError, notFound } from '../../http/api-error.ts';
import { type Caller, ORGANIZATION_PERMISSIONS, PERMISSIONS } from '../../http/caller.ts';
import { type ResourceRequest, resource } from '../../http/resource-routes.ts';
import { moment, orNull, type Route } from '../../http/route.ts';
import type { OrganizationRecord, Role } from '../organizations/organization.ts';
import { type ApiKeyRecord, apiKeyRecord } from './api-key.ts';
import type { KeyStore } from './key-store.ts';
import { PermissionList, permissionIssues, rolesOf } from './roles.ts';

export type KeyParts = {
  keys: Pick<KeyStore, 'insertWithin' | 'find' | 'listOf' | 'revoke'>;
  organizations: { find(id: string): Promise<OrganizationRecord | null> };
  /** Called after a key was revoked. */
  revoked: (key: ApiKeyRecord) => void;
  outboxFilled: () => void;
};

const commonFields = {
  id: Type.String(),
  key_prefix: Type.String({ description: 'The first characters of the key, which help people to recognize it.' }),
  name: Type.String(),
  permissions: Type.Array(Type.Enum(PERMISSIONS)),
  expires_at: orNull(moment()),
  created_at: moment(),
};
const ApiKeySchema = Type.Object(
  {
    ...commonFields,
    last_used_at: orNull(moment('To the minute; null: never.')),
    is_operators: Type.Boolean({ description: 'Whether the settings of the service define this key.' }),
  },
  { title: 'ApiKey' },
);
const ApiKeyNewSchema = Type.Object(
  { ...commonFields, full_key: Type.String({ description: 'The key. It is shown only in this response.' }) },
  { title: 'ApiKeyNew' },
);
const Name = Type.String({ minLength: 1, maxLength: 200 });
const NamedSchema = Type.Object(
  { name: Name },
  { additionalProperties: false, title: 'ApiKeyOfOrganizationIn', examples: [{ name: 'In place of a lost key' }] },
);
const ApiKeyInSchema = Type.Object(
  {
    name: Name,
    expires_at: Type.Optional(orNull(moment('When it expires; null: when the key that creates it expires, if ever.'))),
    permissions: Type.Optional(orNull(PermissionList)),
    role_id: Type.Optional(
      orNull(
        Type.String({
          maxLength: 36,
          description: 'A role whose permissions the key gets. Not together with `permissions`.',
        }),
      ),
    ),
  },
  { additionalProperties: false, title: 'ApiKeyIn', examples: [{ name: 'Reader', permissions: ['scans.read'] }] },
);

/** The keys of the caller's organization. */
export function keyRoutes({ keys, organizations, revoked, outboxFilled }: KeyParts): Route<Caller>[] {
  const apiKeys = resource<ApiKeyRecord>({
    group: 'Account',
    path: '/api/v1/account/api-keys',
    id: { name: 'key_id' },
    noun: 'API key',
    permission: 'account.manage',
    schema: ApiKeySchema,
    presenter: () => presentKey,
    written: outboxFilled,
  });
  return [
    apiKeys.list({
      summary: 'API keys',
      reply: 'The keys of the organization, oldest first.',
      rows: ({ organizationId }) => keys.listOf(organizationId),
    }),
    apiKeys.create({
      summary: 'Create an API key',
      description:
        'The new key has the permissions of the key that creates it, or those of them that `permissions` or a role list. It expires no later than the key that creates it. It is stored as a hash and shown only once.',
      body: ApiKeyInSchema,
      reply: 'The key.',
      schema: ApiKeyNewSchema,
      presenter: () => presentNewKey,
      answersSecret: true,
      errors: ['account.too_many_keys'],
      refine: async ({ caller, body }) => [
        ...permissionIssues(caller, body.permissions ?? [], 'permissions'),
        ...(body.role_id ? roleIssues(caller, body, await findRole(organizations, caller, body.role_id)) : []),
        ...expiryIssues(caller, body.expires_at ?? null, new Date()),
      ],
      create: async ({ caller, organizationId, body, now, audit }) => {
        const { name, expires_at, role_id } = body;
        const role = role_id ? await findRole(organizations, caller, role_id) : null;
        const permissions = role?.permissions ?? body.permissions ?? [...caller.permissions];
        const expiresAt = expires_at ? new Date(expires_at) : caller.expiresAt;
        return issueKey(keys, { organization_id: organizationId, name, permissions }, expiresAt, { now, audit });
      },
    }),
    apiKeys.command({
      method: 'DELETE',
      summary: 'Revoke an API key',
      description:
        'The key stops working within a second. A key that the settings of the service define can only be changed there.',
      reply: 'The key is revoked.',
      errors: ['account.key_of_settings'],
      run: async ({ organizationId, id, audit }) => {
        const key = await keys.find(organizationId, id);
        if (!key) return null;
        if (isOperators(key))
          throw new ApiError(
            'account.key_of_settings',
            'This key is defined by ADSWEEP_API_KEY and can only be changed there.',
          );
        await keys.revoke(key, audit('api_key.revoked', key._id, { name: key.name }));
        return revoked(key);
      },
    }),
  ];
}

/**
 * A further key for any organization: one that has lost its keys, or revoked the last of them, could do nothing about
 * it itself.
 */
export function keysOfOrganizationsRoutes({
  keys,
  organizations,
  outboxFilled,
}: Pick<KeyParts, 'organizations' | 'outboxFilled'> & { keys: Pick<KeyStore, 'insertWithin'> }): Route<Caller>[] {
  const ofAny = resource<ApiKeyRecord>({
    group: 'Organizations',
    path: '/api/v1/organizations/{id}/api-keys',
    id: null,
    noun: 'organization',
    permission: 'organizations.manage',
    schema: ApiKeyNewSchema,
    presenter: () => presentKey,
    written: outboxFilled,
  });
  return [
    ofAny.create({
      summary: 'Create a key for an organization',
      description:
        'For an organization that has lost its keys. The key has all permissions within the organization, and expires no later than the key that creates it. It is shown only once.',
      body: NamedSchema,
      reply: 'The key.',
      presenter: () => presentNewKey,
      answersSecret: true,
      errors: ['account.too_many_keys'],
      create: async ({ caller, params, body: { name }, now, audit }) => {
        const organization_id = params.id!;
        if (!(await organizations.find(organization_id))) throw notFound('organization');
        const of = { organization_id, name, permissions: [...ORGANIZATION_PERMISSIONS] };
        return issueKey(keys, of, caller.expiresAt, { now, audit });
      },
    }),
  ];
}

/** Stores a new key, and the audit entry of it; returns it with its full text, which is kept nowhere. */
async function issueKey(
  keys: Pick<KeyStore, 'insertWithin'>,
  of: Pick<ApiKeyRecord, 'organization_id' | 'name' | 'permissions'>,
  expiresAt: Date | null,
  { now, audit }: Pick<ResourceRequest, 'now' | 'audit'>,
) {
  const fullKey = newApiKey();
  const record = apiKeyRecord(fullKey, { ...of, source: 'api' }, now, expiresAt);
  const changes = { name: of.name, permissions: of.permissions, expires_at: record.expires_at?.toISOString() ?? null };
  await keys.insertWithin(record, [audit('api_key.created', record._id, changes)]);
  return { record, fullKey };
}

const isOperators = ({ source }: ApiKeyRecord): boolean => source !== 'api';

async function findRole(organizations: KeyParts['organizations'], { organizationId }: Caller, id: string) {
  const organization = await organizations.find(organizationId);
  return rolesOf(organization ?? {}).find((role) => role.id === id) ?? null;
}

function roleIssues(
  caller: Caller,
  sent: { role_id?: string | null; permissions?: unknown },
  role: Role | null,
): Issue[] {
  const issue = (type: string, msg: string): Issue[] => [
    { loc: ['body', 'role_id'], msg, type, ctx: given(sent.role_id) },
  ];
  if (!role) return issue('not_found', 'There is no such role.');
  if (sent.permissions) return issue('invalid_combination', 'Must not be sent together with permissions.');
  return permissionIssues(caller, role.permissions, 'role_id');
}

function expiryIssues(caller: Caller, expiresAt: string | null, now: Date): Issue[] {
  if (expiresAt === null) return [];
  const issue = (type: string, msg: string) => [{ loc: ['body', 'expires_at'], msg, type, ctx: given(expiresAt) }];
  if (Date.parse(expiresAt) <= now.getTime()) return issue('date_past', 'Must be in the future.');
  if (caller.expiresAt && Date.parse(expiresAt) > caller.expiresAt.getTime())
    return issue('date_too_late', `Must not be after ${caller.expiresAt.toISOString()}, when your own key expires.`);
  return [];
}

function presentShared({ _id, key_prefix, name, permissions, expires_at, created_at }: ApiKeyRecord) {
  const times = { expires_at: expires_at?.toISOString() ?? null, created_at: created_at.toISOString() };
  return { id: _id, key_prefix, name, permissions, ...times };
}

const presentNewKey = ({ record, fullKey }: { record: ApiKeyRecord; fullKey: string }) => ({
  ...presentShared(record),
  full_key: fullKey,
});

const presentKey = (key: ApiKeyRecord) => ({
  ...presentShared(key),
  last_used_at: key.last_used_at?.toISOString() ?? null,
  is_operators: isOperators(key),
});
