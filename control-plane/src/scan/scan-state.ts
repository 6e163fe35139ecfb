import type { ScanStatus } from '@adsweep/shared/scan/scan-status.ts';
import type { Broadcast } from '../platform/broadcast.ts';
import type { ScanRecord } from './scan.ts';

/** A scan's state as clients see it: `at` is when it began (ISO 8601), `sequence` grows with each change. */
export type ScanState = { id: string; status: ScanStatus; retry_attempt: number; at: string; sequence: number };

/** The state that a scan is in. */
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

/** Broadcasts changes of scans' states to all processes. */
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

/** The state in a message; null where it is none: any client of Redis can publish. */
function readState(message: string, scanId: string): ScanState | null {
  try {
    const state = JSON.parse(message) as ScanState;
    return state.id === scanId && Number.isInteger(state.sequence) ? state : null;
  } catch {
    return null;
  }
}
