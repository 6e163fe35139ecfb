import { newId } from '@adsweep/shared/ids.ts';
import { Type } from 'typebox';
import { ApiError } from '../../http/api-error.ts';
import type { Caller } from '../../http/caller.ts';
import { PERMISSIONS } from '../../http/caller.ts';
import { created, ok, type Route, route } from '../../http/route.ts';
import { auditEntry } from '../audit/audit-entry.ts';
import type { InternalOrganizations } from '../organizations/internal-organizations.ts';
import type { Role } from '../organizations/organization.ts';
import { PermissionList, permissionIssues } from './permission-list.ts';
import { isBuiltIn, ROLES_MAX, rolesOf } from './role.ts';

export type RoleParts = {
  organizations: Pick<InternalOrganizations, 'find' | 'addRole'>;
  outboxFilled: () => void;
};

const RoleSchema = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    scope: Type.Literal('org'),
    is_system: Type.Boolean({ description: 'Every organization has it.' }),
    permissions: Type.Array(Type.Enum(PERMISSIONS)),
  },
  { title: 'Role' },
);
const RoleInSchema = Type.Object(
  { name: Type.String({ minLength: 1, maxLength: 100 }), permissions: PermissionList },
  { additionalProperties: false, title: 'RoleIn', examples: [{ name: 'Reader', permissions: ['scans.read'] }] },
);

const shared = { group: 'Account', permission: 'account.manage', path: '/api/v1/account/roles' } as const;

/** Sets of permissions, from which keys are made. */
export function roleRoutes({ organizations, outboxFilled }: RoleParts): Route<Caller>[] {
  return [
    route({
      ...shared,
      method: 'GET',
      summary: 'Roles',
      description: '`owner`, `admin` and `member`, then those of the organization.',
      replies: { 200: { description: 'The roles.', schema: Type.Array(RoleSchema) } },
      handle: async ({ caller }) => {
        const organization = await organizations.find(caller.organizationId);
        return ok(rolesOf(organization ?? {}).map(presentRole));
      },
    }),
    route({
      ...shared,
      method: 'POST',
      summary: 'Create a role',
      description:
        'A role may hold what the key that creates it may do. Keys that were made from a role stay as they are.',
      body: RoleInSchema,
      replies: { 201: { description: 'The role.', schema: RoleSchema } },
      errors: ['account.too_many_roles'],
      refine: ({ caller, body }) => permissionIssues(caller, body.permissions ?? [], 'permissions'),
      handle: async ({ caller, body, recordId = newId() }) => {
        const organization = await organizations.find(caller.organizationId);
        const earlier = organization?.roles?.find(({ id }) => id === recordId);
        if (earlier) return created(presentRole(earlier));
        if ((organization?.roles?.length ?? 0) >= ROLES_MAX)
          throw new ApiError('account.too_many_roles', `An organization can have ${ROLES_MAX} roles.`);
        const role: Role = { id: recordId, ...body };
        const audit = auditEntry(caller, 'role.created', role.id, body, new Date());
        await organizations.addRole(caller.organizationId, role, audit);
        outboxFilled();
        return created(presentRole(role));
      },
    }),
  ];
}

function presentRole(role: Role) {
  const { id, name, permissions } = role;
  return { id, name, scope: 'org', is_system: isBuiltIn(role), permissions };
}
