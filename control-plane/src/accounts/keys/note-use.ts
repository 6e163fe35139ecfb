import type { ApiKeyRecord } from './api-key.ts';
import type { KeyStore } from './key-store.ts';

/** How exactly the last use of a key is known: a write for each request would be too much. */
const EXACT_TO_MS = 60_000;

/** Notes that a key is in use at `now`, where that was not noted within the last minute. */
export async function noteUse(keys: Pick<KeyStore, 'noteUse'>, key: ApiKeyRecord, now: Date): Promise<void> {
  const last = key.last_used_at?.getTime() ?? 0;
  if (now.getTime() - last >= EXACT_TO_MS) await keys.noteUse(key._id, now);
}
