import { bearerCredential } from '@adsweep/shared/service/bearer.ts';
import { ApiError } from './api-error.ts';

/** The caller of a request: every query of a store names this organization first. */
export type Caller = {
  organizationId: string;
  keyId: string;
  permissions: ReadonlySet<Permission>;
  /** When the key stops working; null: when it is revoked. */
  expiresAt: Date | null;
};

/** Whether this is the operator's key, which alone may manage organizations and what belongs to all of them. */
export const isOperator = ({ permissions }: Caller): boolean => permissions.has('organizations.manage');

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

/** Sets headers of the answer, whatever it will be. */
export type SetHeaders = (headers: Record<string, string>) => void;

/** Whose key this is; null for a key that is unknown, revoked or expired. */
export type FindCaller = (key: string, setHeaders: SetHeaders) => Promise<Caller | null>;

const REALM = 'Bearer realm="adsweep"';

/**
 * Lets a request in: the caller of a bearer key (RFC 6750) that has `permission`. Throws 401 without a valid key and 403 naming the
 * permission that is missing.
 */
export async function authenticate(
  find: FindCaller,
  authorization: string | undefined,
  permission: RoutePermission,
  setHeaders: SetHeaders = () => {},
): Promise<Caller> {
  const key = bearerCredential(authorization);
  if (key === '') throw unauthorized('Send an API key: Authorization: Bearer <API_KEY>.', REALM);
  const caller = await find(key, setHeaders);
  if (!caller) throw unauthorized('This API key is not valid.', `${REALM}, error="invalid_token"`);
  if (permission !== 'any' && !(caller.permissions as ReadonlySet<string>).has(permission)) {
    const headers = { 'WWW-Authenticate': `${REALM}, error="insufficient_scope", scope="${permission}"` };
    throw new ApiError('forbidden', `This API key lacks the permission ${permission}.`, { headers });
  }
  return caller;
}

function unauthorized(detail: string, challenge: string): ApiError {
  return new ApiError('unauthorized', detail, { headers: { 'WWW-Authenticate': challenge } });
}
