/** What a key may do. Write does not imply read. */
export const PERMISSIONS = [
  'scans.read',
  'scans.write',
  'campaigns.read',
  'campaigns.write',
  'custom_rules.manage',
  'custom_taxonomies.manage',
  'policies.read',
  'policies.manage',
  'alerts.read',
  'alerts.manage',
  'alert_notifications.manage',
  'webhooks.manage',
  'billing.read',
  'account.manage',
  'fleet.read',
  'fleet.manage',
  'organizations.manage',
] as const;

/** What only the operator's key may do. */
const OPERATOR_ONLY: readonly string[] = ['organizations.manage', 'fleet.manage', 'fleet.read'];

export type Permission = (typeof PERMISSIONS)[number];

/** What a key can do within its organization. */
export const ORGANIZATION_PERMISSIONS: Permission[] = PERMISSIONS.filter((one) => !OPERATOR_ONLY.includes(one));

/**
 * What a route asks of its caller: a permission, `any` valid key, or `none`. In the node API: a `join` token, the credential of a
 * `node`, or the token of a `lease`.
 */
export type RoutePermission = Permission | 'any' | 'none' | 'join' | 'node' | 'lease';
