import type { Caller } from '../../http/caller.ts';
import { type ApiKeyRecord, hashApiKey } from './api-key.ts';
import type { KeyStore } from './key-store.ts';

/** Whose key this is at `now`; null for one that is unknown, revoked or expired. */
export async function findCaller(keys: Pick<KeyStore, 'findByHash'>, key: string, now: Date): Promise<Caller | null> {
  const record = await keys.findByHash(hashApiKey(key));
  if (!record || isExpired(record, now)) return null;
  return {
    organizationId: record.organization_id,
    keyId: record._id,
    permissions: new Set(record.permissions),
    expiresAt: record.expires_at,
  };
}

/** Whether the key that a caller came with would be let in at `now`: it was neither revoked nor has it expired. */
export async function isStillValid(
  keys: Pick<KeyStore, 'findById'>,
  { keyId }: Pick<Caller, 'keyId'>,
  now: Date,
): Promise<boolean> {
  const record = await keys.findById(keyId);
  return record !== null && !isExpired(record, now);
}

const isExpired = ({ expires_at }: Pick<ApiKeyRecord, 'expires_at'>, now: Date): boolean =>
  expires_at !== null && expires_at <= now;
