import type { Domain } from '../domain.ts';
import type { Platform } from '../platform/platform.ts';
import { stateBroadcast, stateOf } from './scan-state.ts';
import { scanStore } from './scan-store.ts';

/** The scans, which all higher domains share. Each status change of a scan is broadcast to all processes. */
export function scanDomain({ store, broadcast }: Pick<Platform, 'store' | 'broadcast'>) {
  const states = stateBroadcast(broadcast);
  const scans = scanStore(store, (scan) => states.announce(stateOf(scan)));
  return {
    stores: { scans },
    routes: {},
    loops: {},
    outboxHandlers: {},
    verbs: { watchScan: states.watch },
  } satisfies Domain;
}

export type ScanDomain = ReturnType<typeof scanDomain>;
