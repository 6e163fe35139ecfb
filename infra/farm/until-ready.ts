import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fetchInTime } from '@adsweep/shared/service/fetch-in-time.ts';

/** Timeout of a request to the control plane's `/readyz`. */
const READY_ANSWER_MS = 5_000;
/** How long the farm waits before it prints what is missing. */
const SILENT_WAIT_MS = 2_000;

/** Waits until the control plane is ready; prints what is missing if that takes long. */
export async function untilReady(url: string, dataDir: string, say: (text: string) => void): Promise<void> {
  const began = performance.now();
  let printed = '';
  for (;;) {
    const missing = await missingAt(url);
    if (missing.length === 0) return;
    const waiting = waitingWords(missing, dataDir);
    if (waiting !== printed && performance.now() - began > SILENT_WAIT_MS) {
      printed = waiting;
      say(waiting);
    }
    await sleep(50);
  }
}

/** What `/readyz` reports as missing; the control plane itself while it restarts. */
async function missingAt(url: string): Promise<string[]> {
  try {
    const { text } = await fetchInTime(url, {}, READY_ANSWER_MS);
    return (JSON.parse(text) as { missing: string[] }).missing;
  } catch {
    return ['control-plane'];
  }
}

/** What `/readyz` may report as missing, with advice. */
const MISSING: Record<string, (dataDir: string) => string> = {
  store: () => 'the store: check that MONGODB_URL can be reached from here',
  disk: (dataDir) =>
    `disk space: free some on the disk of ${dataDir}, or set ADSWEEP_DATA_DIR to a folder on another one (ADSWEEP_DISK_FLOOR_MB is how much must be free)`,
  files: (dataDir) =>
    `the bucket of the files: check the ADSWEEP_S3_ settings; why it cannot be used is in ${join(dataDir, 'log/control-plane.log')}`,
  redis: () => 'Redis: check that REDIS_URL can be reached from here, and that it has memory and disk space left',
  'redis version 7': () => 'a Redis 7.0 or newer: the one that was found, or that of REDIS_URL, is too old',
  'redis maxmemory-policy noeviction': () => 'a Redis without eviction: set its maxmemory-policy to noeviction',
  catalogue: (dataDir) => `the catalogue of exits: if it does not appear, see ${join(dataDir, 'log/proxy-router.log')}`,
  'control-plane': (dataDir) =>
    `the control plane to restart: if it does not, see ${join(dataDir, 'log/control-plane.log')}`,
};

/** What the farm is waiting for and what its operator can do: a line for each name in `missing`. */
export function waitingWords(missing: readonly string[], dataDir: string): string {
  return missing.map((name) => `  waiting for ${MISSING[name]?.(dataDir) ?? name}`).join('\n');
}
