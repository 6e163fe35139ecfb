import { given } from '@adsweep/shared/validation/given.ts';
import type { Issue } from '@adsweep/shared/validation/issue.ts';
import { Type } from 'typebox';
import type { Caller } from '../../http/caller.ts';
import { PERMISSIONS, type Permission } from '../../http/caller.ts';

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
