import type { ScanRecord } from '../../scan/scan.ts';
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

/** The capture that a scan names as gzipped JSON, or null where it names none. */
export type ReadPackedCapture = (scan: Pick<ScanRecord, 'capture'>) => Promise<Uint8Array | null>;

export const packedCaptureReader =
  (captures: Pick<CaptureStore, 'findPacked'>): ReadPackedCapture =>
  async ({ capture }) =>
    capture && captures.findPacked(capture.id);

/** Reads the large parts of a capture, which stand apart from it; null where there are none (any more). */
export type ReadContents = Pick<BodyStore, 'packed' | 'unpackedBytesMax'>;
