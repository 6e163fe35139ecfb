import type { ScanStatus } from '@adsweep/shared/scan/scan-status.ts';
import type { ScanRecord } from './scan.ts';

/** A scan's state as clients are told it: `at` is when it began (ISO 8601), `sequence` grows with each change. */
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
