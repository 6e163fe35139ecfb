import { bearerCredential } from '@adsweep/shared/service/bearer.ts';
import { ApiError } from './api-error.ts';
import type { Caller } from './caller.ts';
import type { RoutePermission } from './permissions.ts';

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
