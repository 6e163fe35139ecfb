import type { ScanStatus } from '@adsweep/shared/scan/scan-status.ts';
import type { Broadcast } from '../platform/broadcast.ts';
import type { ScanRecord } from './scan.ts';

/**
 * A scan's state as sent to clients: `at` is when the scan entered it (ISO 8601), `sequence` increases with each
 * change.
 */
export type ScanState = { id: string; status: ScanStatus; retry_attempt: number; at: string; sequence: number };

/** The current state of a scan. */
export function stateOf(scan: ScanRecord): ScanState {
  const { _id, status, retry_attempt, status_at, status_sequence, created_at } = scan;
  return {
    id: _id,
    status,
    retry_attempt,
    at: (status_at ?? created_at).toISOString(),
    sequence: status_sequence ?? 0,
  };
}

const topicOf = (scanId: string): string => `scan:${scanId}`;

/** Broadcasts state changes of scans to all processes. */
export function stateBroadcast(broadcast: Pick<Broadcast, 'send' | 'listen'>) {
  return {
    announce: (state: ScanState): void => broadcast.send(topicOf(state.id), JSON.stringify(state)),

    /** Calls `receive` with each change of a scan's state until `stop` is called. */
    watch: (scanId: string, receive: (state: ScanState) => void): Promise<{ stop: () => void }> =>
      broadcast.listen(topicOf(scanId), (message) => {
        const state = readState(message, scanId);
        if (state) receive(state);
      }),
  };
}

/** Parses a message; null if it is not a state of this scan. Not trusted: any Redis client can publish. */
function readState(message: string, scanId: string): ScanState | null {
  try {
    const state = JSON.parse(message) as ScanState;
    return state.id === scanId && Number.isInteger(state.sequence) ? state : null;
  } catch {
    return null;
  }
}
