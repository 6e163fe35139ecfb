import type { Platform } from '../platform/platform.ts';
import { stateOf } from '../scan/scan-state.ts';
import { scanStore } from '../scan/scan-store.ts';
import { stateBroadcast } from '../scan/state-broadcast.ts';
import { artifactStore } from './artifacts/artifact-store.ts';
import { startSweeping } from './artifacts/start-sweeping.ts';

/** Scans and the files that belong to them. */
export function scanningDomain({ store, objects, redis, broadcast, logger }: Platform) {
  const [states, artifacts] = [stateBroadcast(broadcast), artifactStore(store, objects)];
  const scans = scanStore(store, (scan) => states.announce(stateOf(scan)));
  return {
    stores: [scans, artifacts],
    scans,
    artifacts,
    watchScan: states.watch,
    outboxSources: [scans.outbox],
    loops: { sweeper: () => [startSweeping({ store, objects, redis, artifacts, logger })] },
  };
}

export type ScanningDomain = ReturnType<typeof scanningDomain>;
