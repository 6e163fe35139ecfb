import type { ScanRecord } from '../scans/scan.ts';
import type { CaptureRecord } from './capture-record.ts';
import type { CaptureStore } from './capture-store.ts';

/** The capture that a scan names, or null where it names none. */
export type ReadCapture = (scan: Pick<ScanRecord, 'capture'>) => Promise<CaptureRecord | null>;

/** Reads captures by the id in the scan's summary. */
export const captureReader =
  (captures: Pick<CaptureStore, 'find'>): ReadCapture =>
  async ({ capture }) =>
    capture && captures.find(capture.id);
