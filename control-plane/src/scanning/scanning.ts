import type { Platform } from '../platform/platform.ts';
import { artifactStore } from './artifacts/artifact-store.ts';
import { startSweeping } from './artifacts/start-sweeping.ts';
import { scanStore } from './scans/state/scan-store.ts';

/** Scans and the files that belong to them. */
export function scanningDomain({ store, objects, redis, logger }: Platform) {
  const [scans, artifacts] = [scanStore(store), artifactStore(store, objects)];
  return {
    stores: [scans, artifacts],
    scans,
    artifacts,
    outboxSources: [scans.outbox],
    loops: { sweeper: () => [startSweeping({ store, objects, redis, artifacts, logger })] },
  };
}

export type ScanningDomain = ReturnType<typeof scanningDomain>;
