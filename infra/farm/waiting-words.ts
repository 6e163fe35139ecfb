import { join } from 'node:path';

/** What `/readyz` may name, in words, and what to do when it stays away. */
const MISSING: Record<string, (dataDir: string) => string> = {
  store: () => 'the store: check that MONGODB_URL can be reached from here',
  disk: (dataDir) =>
    `disk space: free some on the disk of ${dataDir}, or set ADSWEEP_DATA_DIR to a folder on another one (ADSWEEP_DISK_FLOOR_MB is how much must be free)`,
  redis: () => 'Redis: check that REDIS_URL can be reached from here, and that it has memory and disk space left',
  'redis maxmemory-policy noeviction': () =>
    'Redis that keeps what it is given: set its maxmemory-policy to noeviction',
  catalogue: (dataDir) => `the catalogue of exits: if it does not come, see ${join(dataDir, 'log/proxy-router.log')}`,
  'control-plane': (dataDir) =>
    `the control plane to start again: if it does not, see ${join(dataDir, 'log/control-plane.log')}`,
};

/** What the farm waits for and what its operator can do, a line for each of `missing` as `/readyz` names it. */
export function waitingWords(missing: readonly string[], dataDir: string): string {
  return missing.map((name) => `  waiting for ${MISSING[name]?.(dataDir) ?? name}`).join('\n');
}
