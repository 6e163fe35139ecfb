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

/** The roles of an organization, those that every one has first. */
export const rolesOf = ({ roles = [] }: { roles?: Role[] }): Role[] => [...BUILT_IN_ROLES, ...roles];

/** Permissions in a request. */
export const PermissionList = Type.Array(Type.Enum(PERMISSIONS), {
  maxItems: PERMISSIONS.length,
  description: 'None twice.',
});

/** What is wrong with permissions that a caller wants to hand on: it can give what it has, and each once. */
export function permissionIssues({ permissions: own }: Caller, wanted: Permission[], field: string): Issue[] {
  const loc = ['body', field];
  const lacking = wanted.filter((permission) => permission !== undefined && !own.has(permission));
  if (lacking.length > 0) {
    const msg = `The key that creates it lacks ${lacking.join(', ')}.`;
    return [{ loc, msg, type: 'permission_lacking', ctx: { ...given(wanted), expected: [...own] } }];
  }
  if (new Set(wanted).size === wanted.length) return [];
  return [{ loc, msg: 'Must not name a permission twice.', type: 'duplicate_items', ctx: given(wanted) }];
}
