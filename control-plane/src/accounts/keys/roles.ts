import { given } from '@adsweep/shared/validation/given.ts';
import type { Issue } from '@adsweep/shared/validation/issue.ts';
import { Type } from 'typebox';
import { type Caller, ORGANIZATION_PERMISSIONS, PERMISSIONS, type Permission } from '../../http/caller.ts';
import type { Role } from '../organizations/organization.ts';

export const ROLES_MAX = 100;

const READ_AND_CHECK: Permission[] = [
  'scans.read',
  'scans.write',
  'campaigns.read',
  'campaigns.write',
  'policies.read',
  'alerts.read',
];

/** The roles that every organization has. */
const BUILT_IN_ROLES: readonly Role[] = [
  { id: '00000000-0000-4000-8000-0000000000a1', name: 'owner', permissions: ORGANIZATION_PERMISSIONS },
  {
    id: '00000000-0000-4000-8000-0000000000a2',
    name: 'admin',
    permissions: ORGANIZATION_PERMISSIONS.filter((one) => one !== 'account.manage'),
  },
  { id: '00000000-0000-4000-8000-0000000000a3', name: 'member', permissions: READ_AND_CHECK },
];

export const isBuiltIn = ({ id }: Role): boolean => BUILT_IN_ROLES.some((one) => one.id === id);

/** The roles of an organization: the built-in ones first, then its own. */
export const rolesOf = ({ roles = [] }: { roles?: Role[] }): Role[] => [...BUILT_IN_ROLES, ...roles];

/** Schema of a list of permissions in a request. */
export const PermissionList = Type.Array(Type.Enum(PERMISSIONS), {
  maxItems: PERMISSIONS.length,
  description: 'Without duplicates.',
});

/** The issues of permissions that a caller wants to grant: a permission that the caller lacks, or a duplicate. */
export function permissionIssues({ permissions: own }: Caller, wanted: Permission[], field: string): Issue[] {
  const loc = ['body', field];
  const lacking = wanted.filter((permission) => permission !== undefined && !own.has(permission));
  if (lacking.length > 0) {
    const msg = `Your own key lacks ${lacking.join(', ')}.`;
    return [{ loc, msg, type: 'permission_lacking', ctx: { ...given(wanted), expected: [...own] } }];
  }
  if (new Set(wanted).size === wanted.length) return [];
  return [{ loc, msg: 'Must not repeat a permission.', type: 'duplicate_items', ctx: given(wanted) }];
}
