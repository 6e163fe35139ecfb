import type { ApiKeyRecord } from './api-key.ts';
import type { KeyStore } from './key-store.ts';

/** The resolution of a key's last use: a write for each request would be too expensive. */
const EXACT_TO_MS = 60_000;

/** Records that a key is used at `now`, unless that was recorded within the last minute. */
export async function noteUse(keys: Pick<KeyStore, 'noteUse'>, key: ApiKeyRecord, now: Date): Promise<void> {
  const last = key.last_used_at?.getTime() ?? 0;
  if (now.getTime() - last >= EXACT_TO_MS) await keys.noteUse(key._id, now);
}
