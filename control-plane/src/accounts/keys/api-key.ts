import { createHash } from 'node:crypto';
import type { Caller, Permission } from '../../http/caller.ts';
import type { OutboxFields } from '../../platform/outbox/outbox-entry.ts';

/** Where a key comes from: the operator's `ADSWEEP_API_KEY`, or a request to the API. */
export type KeySource = 'environment' | 'api';

/**
 * A key of an organization. The key itself is never stored; `key_prefix` helps people to recognize it. Records of
 * earlier versions have no `source`; it was the environment.
 */
export type ApiKeyRecord = Partial<OutboxFields> & {
  _id: string;
  organization_id: string;
  key_hash: string;
  key_prefix: string;
  name: string;
  source: KeySource;
  permissions: Permission[];
  created_at: Date;
  expires_at: Date | null;
  /** When it was revoked; since then it is not accepted. */
  revoked_at?: Date;
  /** To the minute. Absent: no use was recorded. */
  last_used_at?: Date;
};

const PREFIX_LENGTH = 8;

/** The stored hash of a key: SHA-256 in hex. Keys are long and random, so a slow hash is not needed. */
export const hashApiKey = (key: string): string => createHash('sha256').update(key).digest('hex');

/** The record of a key. Its id is derived from the key, so that storing a key repeatedly creates one record. */
export function apiKeyRecord(
  key: string,
  of: Pick<ApiKeyRecord, 'organization_id' | 'name' | 'source' | 'permissions'>,
  now: Date,
  expiresAt: Date | null = null,
): ApiKeyRecord {
  const hash = hashApiKey(key);
  return {
    _id: idFromHash(hash),
    organization_id: of.organization_id,
    key_hash: hash,
    key_prefix: key.slice(0, Math.min(PREFIX_LENGTH, key.length / 2)),
    name: of.name,
    source: of.source,
    permissions: of.permissions,
    created_at: now,
    expires_at: expiresAt,
  };
}

/** A UUID (version 8, RFC 9562) from which the hash cannot be derived. */
function idFromHash(hash: string): string {
  const hex = createHash('sha256').update(`api key id:${hash}`).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/** The caller with this key; null if it is unknown, revoked or expired at `now`. */
export async function findCaller(
  keys: { findByHash(hash: string): Promise<ApiKeyRecord | null> },
  key: string,
  now: Date,
): Promise<Caller | null> {
  const record = await keys.findByHash(hashApiKey(key));
  if (!record || isExpired(record, now)) return null;
  return {
    organizationId: record.organization_id,
    keyId: record._id,
    permissions: new Set(record.permissions),
    expiresAt: record.expires_at,
  };
}

/** Whether the key of a caller is still accepted at `now`: it is neither revoked nor expired. */
export async function isStillValid(
  keys: { findById(id: string): Promise<ApiKeyRecord | null> },
  { keyId }: Pick<Caller, 'keyId'>,
  now: Date,
): Promise<boolean> {
  const record = await keys.findById(keyId);
  return record !== null && !isExpired(record, now);
}

/** Whether a key has expired at `now`. */
export const isExpired = ({ expires_at }: Pick<ApiKeyRecord, 'expires_at'>, now: Date): boolean =>
  expires_at !== null && expires_at <= now;

/** Resolution of `last_used_at`: a write for each request would be too expensive. */
const EXACT_TO_MS = 60_000;

/** Records that a key is used at `now`, unless a use within the last minute is recorded. */
export async function recordUse(
  keys: { recordUse(id: string, now: Date): Promise<void> },
  key: ApiKeyRecord,
  now: Date,
): Promise<void> {
  const last = key.last_used_at?.getTime() ?? 0;
  if (now.getTime() - last >= EXACT_TO_MS) await keys.recordUse(key._id, now);
}
