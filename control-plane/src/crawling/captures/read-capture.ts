import type { ScanRecord } from '../../scanning/scans/state/scan.ts';
import type { BodyStore } from './body-store.ts';
import type { CaptureRecord } from './capture-record.ts';
import type { CaptureStore } from './capture-store.ts';

/** The capture that a scan names, or null where it names none. */
export type ReadCapture = (scan: Pick<ScanRecord, 'capture'>) => Promise<CaptureRecord | null>;

/** Reads captures by the id in the scan's summary. */
export const captureReader =
  (captures: Pick<CaptureStore, 'find'>): ReadCapture =>
  async ({ capture }) =>
    capture && captures.find(capture.id);

/** Reads the large parts of a capture, which stand apart from it; null where there are none (any more). */
export type ReadContents = Pick<
  BodyStore,
  'requestsOf' | 'documentsOf' | 'bodiesOf' | 'vastDocumentsOf' | 'packed' | 'unpackedBytesMax'
>;
