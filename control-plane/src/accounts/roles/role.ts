import { ORGANIZATION_PERMISSIONS, type Permission } from '../../http/caller.ts';
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
