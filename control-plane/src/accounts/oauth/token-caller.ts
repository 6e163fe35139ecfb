import type { Caller, Permission } from '../../http/caller.ts';
import type { ApiKeyRecord } from '../keys/api-key.ts';
import type { OAuthClientRecord } from './oauth-client.ts';
import type { AccessToken } from './oauth-record-store.ts';

/**
 * The client and the key on which a token rests; null: the client was deleted, the key revoked, or either has expired.
 */
export type TokenOwners = {
  findClient: (id: string) => Promise<OAuthClientRecord | null>;
  /** A valid API key by its id. */
  findKey: (id: string) => Promise<ApiKeyRecord | null>;
};

/** The organization that a token acts for, and the most it may do. */
type Owner = { organizationId: string; keyId: string; permissions: readonly Permission[]; expiresAt: Date | null };

/**
 * The owner of a token: the client itself, or the person who signed in to it with a key. Null if either is gone, or a
 * client of one organization was signed in to with a key of another.
 */
export async function ownerOf(
  { findClient, findKey }: TokenOwners,
  { clientId, keyId }: Pick<AccessToken, 'clientId' | 'keyId'>,
): Promise<Owner | null> {
  const [client, key] = await Promise.all([findClient(clientId), keyId === null ? null : findKey(keyId)]);
  if (!client) return null;
  if (keyId === null) {
    const { organization_id: organizationId, permissions, expires_at } = client;
    // A client that registered itself acts only for people.
    return organizationId === null ? null : { organizationId, keyId: client._id, permissions, expiresAt: expires_at };
  }
  if (!key || !maySignIn(client, key)) return null;
  return {
    organizationId: key.organization_id,
    keyId: key._id,
    permissions: key.permissions,
    expiresAt: earliest(client.expires_at, key.expires_at),
  };
}

/** Whether this key can be signed in with at this client: a client of an organization is for its own people. */
export const maySignIn = (client: OAuthClientRecord, key: ApiKeyRecord): boolean =>
  client.organization_id === null || client.organization_id === key.organization_id;

/**
 * The caller with an access token: it has the permissions among its scopes that its owner still has. Null if it has no
 * owner any more.
 */
export async function callerOf(owners: TokenOwners, token: AccessToken): Promise<Caller | null> {
  const owner = await ownerOf(owners, token);
  if (!owner) return null;
  const scopes = new Set(token.scope.split(' '));
  return {
    organizationId: owner.organizationId,
    keyId: owner.keyId,
    token: { id: token.id, clientId: token.clientId },
    permissions: new Set(owner.permissions.filter((permission) => scopes.has(permission))),
    expiresAt: earliest(token.expiresAt, owner.expiresAt),
  };
}

/** The earlier of two ends; null: never. */
const earliest = (one: Date | null, other: Date | null): Date | null =>
  one === null || other === null ? (one ?? other) : one < other ? one : other;
