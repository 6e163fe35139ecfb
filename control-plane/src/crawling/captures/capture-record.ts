import type { Artifact } from '@adsweep/shared/capture/artifacts.ts';
import type { Capture } from '@adsweep/shared/capture/capture.ts';
import type { ScanRecord } from '../../scan/scan.ts';
import type { AttemptRef } from '../../scanning/artifacts/artifact.ts';
import type { BodyStore } from './body-store.ts';

/**
 * The capture that was accepted for a scan: `requests` are the stored ones, `requests_seen` how many there were; `artifacts` are as
 * measured here.
 */
export type CaptureRecord = {
  _id: string;
  scan_id: string;
  organization_id: string;
  fence: number;
  capture: Capture;
  requests_seen: number;
  artifacts: Artifact[];
  created_at: Date;
};

/** One per attempt, so that the same result sent twice is the same record. */
export const captureIdOf = ({ scanId, fence }: AttemptRef): string => `${scanId}:${fence}`;

/** The attempt in a capture's id. */
export function attemptOf(captureId: string): AttemptRef {
  const [scanId = '', fence] = captureId.split(':');
  return { scanId, fence: Number(fence) };
}

/** The capture that a scan names, or null where it names none. */
export type ReadCapture = (scan: Pick<ScanRecord, 'capture'>) => Promise<CaptureRecord | null>;

/** Reads captures by the id in the scan's summary. */
export const captureReader =
  (captures: { find(id: string): Promise<CaptureRecord | null> }): ReadCapture =>
  async ({ capture }) =>
    capture && captures.find(capture.id);

/** The capture that a scan names as gzipped JSON, or null where it names none. */
export type ReadPackedCapture = (scan: Pick<ScanRecord, 'capture'>) => Promise<Uint8Array | null>;

export const packedCaptureReader =
  (captures: { findPacked(id: string): Promise<Uint8Array | null> }): ReadPackedCapture =>
  async ({ capture }) =>
    capture && captures.findPacked(capture.id);

/** Reads the large parts of a capture, which stand apart from it; null where there are none (any more). */
export type ReadContents = Pick<BodyStore, 'packed' | 'unpackedBytesMax'>;
