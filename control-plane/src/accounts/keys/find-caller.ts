import type { Caller } from '../../http/caller.ts';
import { hashApiKey } from './api-key.ts';
import type { KeyStore } from './key-store.ts';

/** Whose key this is at `now`; null for one that is unknown, revoked or expired. */
export async function findCaller(keys: Pick<KeyStore, 'findByHash'>, key: string, now: Date): Promise<Caller | null> {
  const record = await keys.findByHash(hashApiKey(key));
  if (!record || (record.expires_at && record.expires_at <= now)) return null;
  return {
    organizationId: record.organization_id,
    keyId: record._id,
    permissions: new Set(record.permissions),
    expiresAt: record.expires_at,
  };
}
