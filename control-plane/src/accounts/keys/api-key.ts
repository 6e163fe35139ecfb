import { createHash } from 'node:crypto';
import type { Permission } from '../../http/caller.ts';
import type { OutboxFields } from '../../platform/outbox/outbox-entry.ts';

/** Where a key comes from: the operator's `ADSWEEP_API_KEY`, or a request to the API. */
export type KeySource = 'environment' | 'api';

/**
 * A key of an organization. The key itself is never stored; `key_prefix` lets people tell keys apart. Records of earlier versions have
 * no `source`: theirs is the environment.
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
  /** When it was revoked; it is no longer accepted. */
  revoked_at?: Date;
  /** To the minute. Absent: it was never used, or not since this is recorded. */
  last_used_at?: Date;
};

const PREFIX_LENGTH = 8;

/** The stored hash of a key: SHA-256 in hex. Keys are random and long, so that no slow hash is needed. */
export const hashApiKey = (key: string): string => createHash('sha256').update(key).digest('hex');

/** The record of a key; its id follows from the key, so that storing the same key twice is one record. */
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

/** A UUID (version 8, RFC 9562) that says nothing of the hash it was made of. */
function idFromHash(hash: string): string {
  const hex = createHash('sha256').update(`api key id:${hash}`).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
