import { bearerCredential } from '@adsweep/shared/service/bearer.ts';
import { ApiError } from './api-error.ts';

/** The authenticated caller of a request. Every query of a store filters by this organization first. */
export type Caller = {
  organizationId: string;
  /**
   * The API key of the request or, with an OAuth token, the key that was signed in with or the client that acts for
   * itself.
   */
  keyId: string;
  /** The OAuth token of the request and its client; absent: it has an API key. */
  token?: { id: string; clientId: string };
  permissions: ReadonlySet<Permission>;
  /** When the key or token stops working; null: when it is revoked. */
  expiresAt: Date | null;
};

/** Whether this is the operator's key: the only one that can manage organizations and what they share. */
export const isOperator = ({ permissions }: Caller): boolean => permissions.has('organizations.manage');

/** The permissions of keys. Write does not imply read. */
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

/** Permissions that only the operator's key has. */
const OPERATOR_ONLY: readonly string[] = ['organizations.manage', 'fleet.manage', 'fleet.read'];

export type Permission = (typeof PERMISSIONS)[number];

/** The permissions that a key of any organization can have. */
export const ORGANIZATION_PERMISSIONS: Permission[] = PERMISSIONS.filter((one) => !OPERATOR_ONLY.includes(one));

/**
 * What a route requires: a permission, `any` valid key, or `none`. In the node API: a `join` token, the credential of a
 * `node`, the token of a `lease`, a one-time token to `enrol`, or the credential of an `enrolled` node.
 */
export type RoutePermission = Permission | 'any' | 'none' | 'join' | 'node' | 'lease' | 'enrol' | 'enrolled';

/** Sets headers of the response, also of an error. */
export type SetHeaders = (headers: Record<string, string>) => void;

/**
 * Finds the caller with a key, for a request that needs `permission`; null if the key is unknown, revoked or expired.
 */
export type FindCaller = (key: string, setHeaders: SetHeaders, permission: RoutePermission) => Promise<Caller | null>;

/**
 * The credential of a caller, within which its `Idempotency-Key`s are unique: an API key, or an OAuth client, who
 * signed in to it, and the scopes of the token: a token with fewer gets no answer of one with more, and the next token
 * of the same sign-in gets them all.
 */
export const credentialOf = ({ keyId, token, permissions }: Pick<Caller, 'keyId' | 'token' | 'permissions'>): string =>
  token ? `${token.clientId} ${keyId} ${[...permissions].sort().join()}` : keyId;

/**
 * Authenticates a request by its bearer credential (RFC 6750), an API key or an OAuth token, and checks `permission`.
 * Throws 401 without a valid one, and 403 with the name of the missing permission. `metadataUrl`: where a client learns
 * how to get a token (RFC 9728).
 */
export async function authenticate(
  find: FindCaller,
  authorization: string | undefined,
  permission: RoutePermission,
  { metadataUrl, setHeaders = () => {} }: { metadataUrl: string; setHeaders?: SetHeaders | undefined },
): Promise<Caller> {
  const realm = `Bearer realm="adsweep", resource_metadata="${metadataUrl}"`;
  const credential = bearerCredential(authorization);
  if (credential === '') throw unauthorized('Send an API key: Authorization: Bearer <API_KEY>.', realm);
  const caller = await find(credential, setHeaders, permission);
  if (!caller) throw unauthorized('This API key is not valid.', `${realm}, error="invalid_token"`);
  if (permission !== 'any' && !(caller.permissions as ReadonlySet<string>).has(permission))
    throw lacksPermission(permission, {
      isToken: caller.token !== undefined,
      headers: { 'WWW-Authenticate': `${realm}, error="insufficient_scope", scope="${permission}"` },
    });
  return caller;
}

/** The refusal of a credential, an API key or an OAuth token, that may not do something. */
export const lacksPermission = (
  permission: RoutePermission,
  { isToken, headers = {} }: { isToken: boolean; headers?: Record<string, string> },
): ApiError =>
  new ApiError('forbidden', `This ${isToken ? 'token' : 'API key'} lacks the permission ${permission}.`, { headers });

function unauthorized(detail: string, challenge: string): ApiError {
  return new ApiError('unauthorized', detail, { headers: { 'WWW-Authenticate': challenge } });
}
