import { Type } from 'typebox';
import { ApiError } from '../../http/api-error.ts';
import { type Caller, PERMISSIONS } from '../../http/caller.ts';
import { resource } from '../../http/resource-routes.ts';
import type { Route } from '../../http/route.ts';
import type { OutboxEntry } from '../../platform/outbox/outbox-entry.ts';
import type { OrganizationRecord, Role } from '../organizations/organization.ts';
import { isBuiltIn, PermissionList, permissionIssues, ROLES_MAX, rolesOf } from './roles.ts';

export type RoleParts = {
  organizations: {
    find(id: string): Promise<OrganizationRecord | null>;
    addRole(id: string, role: Role, most: number, audit: OutboxEntry<'audit'>): Promise<boolean>;
  };
  outboxFilled: () => void;
};

const RoleSchema = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    scope: Type.Literal('org'),
    is_system: Type.Boolean({ description: 'Whether it is one of the built-in roles, which every organization has.' }),
    permissions: Type.Array(Type.Enum(PERMISSIONS)),
  },
  { title: 'Role' },
);
const RoleInSchema = Type.Object(
  { name: Type.String({ minLength: 1, maxLength: 100 }), permissions: PermissionList },
  { additionalProperties: false, title: 'RoleIn', examples: [{ name: 'Reader', permissions: ['scans.read'] }] },
);

/** The roles of the caller's organization. */
export function roleRoutes({ organizations, outboxFilled }: RoleParts): Route<Caller>[] {
  const roles = resource<Role>({
    group: 'Account',
    path: '/api/v1/account/roles',
    id: { name: 'role_id' },
    noun: 'role',
    permission: 'account.manage',
    schema: RoleSchema,
    presenter: () => presentRole,
    written: outboxFilled,
  });
  return [
    roles.list({
      summary: 'Roles',
      description: 'The built-in roles `owner`, `admin` and `member`, then those of the organization.',
      reply: 'The roles.',
      rows: async ({ organizationId }) => rolesOf((await organizations.find(organizationId)) ?? {}),
    }),
    roles.create({
      summary: 'Create a role',
      description:
        'A role can only contain permissions of the key that creates it. A key that is created with a role copies its permissions.',
      body: RoleInSchema,
      reply: 'The role.',
      errors: ['account.too_many_roles'],
      refine: ({ caller, body }) => permissionIssues(caller, body.permissions ?? [], 'permissions'),
      create: async ({ organizationId, id, body, audit }) => {
        const { roles: own = [] } = (await organizations.find(organizationId)) ?? {};
        // After a crash the same request may be run again.
        const earlier = own.find((role) => role.id === id);
        if (earlier) return earlier;
        const role: Role = { id, ...body };
        if (await organizations.addRole(organizationId, role, ROLES_MAX, audit('role.created', id, body))) return role;
        throw new ApiError('account.too_many_roles', `An organization can have at most ${ROLES_MAX} roles.`);
      },
    }),
  ];
}

function presentRole(role: Role) {
  const { id, name, permissions } = role;
  return { id, name, scope: 'org', is_system: isBuiltIn(role), permissions };
}
