import type { Broadcast } from '../platform/broadcast.ts';
import type { ScanState } from './scan-state.ts';

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

/** Whoever can publish can write anything. */
function readState(message: string, scanId: string): ScanState | null {
  try {
    const state = JSON.parse(message) as ScanState;
    return state.id === scanId && Number.isInteger(state.sequence) ? state : null;
  } catch {
    return null;
  }
}
