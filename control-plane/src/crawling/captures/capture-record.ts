import type { Artifact } from '@adsweep/shared/capture/artifacts.ts';
import type { Capture } from '@adsweep/shared/capture/capture.ts';
import { BoundedQueue } from '../../platform/bounded-queue.ts';
import type { ScanRecord } from '../../scan/scan.ts';
import type { AttemptRef } from '../../scanning/artifacts/artifact.ts';
import type { BodyStore } from './body-store.ts';

/**
 * The accepted capture of a scan. `capture.requests` are the stored ones of `requests_seen`; `artifacts` are as
 * measured by the control plane.
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

/** The id of an attempt's capture. A result that is sent twice has the same id. */
export const captureIdOf = ({ scanId, fence }: AttemptRef): string => `${scanId}:${fence}`;

/** The attempt in a capture's id. */
export function attemptOf(captureId: string): AttemptRef {
  const [scanId = '', fence] = captureId.split(':');
  return { scanId, fence: Number(fence) };
}

/**
 * Captures that are read at once: one of 4 MiB is 25 MB in memory meanwhile, and is asked for by anyone with the link
 * of a report.
 */
const READ_AT_ONCE = 4;

/** Reads the capture of a scan; null if it has none. */
export type ReadCapture = (scan: Pick<ScanRecord, 'organization_id' | 'capture'>) => Promise<CaptureRecord | null>;

/** Reads captures by the id in the scan's summary, a few at a time, those of organizations in turn. */
export function captureReader(captures: { find(id: string): Promise<CaptureRecord | null> }): ReadCapture {
  const queue = new BoundedQueue({ running: READ_AT_ONCE, waiting: Number.POSITIVE_INFINITY });
  return async ({ organization_id, capture }) =>
    capture && queue.run(() => captures.find(capture.id), { owner: organization_id });
}

/** Reads the capture of a scan as gzipped JSON; null if it has none. */
export type ReadPackedCapture = (scan: Pick<ScanRecord, 'capture'>) => Promise<Uint8Array | null>;

export const packedCaptureReader =
  (captures: { findPacked(id: string): Promise<Uint8Array | null> }): ReadPackedCapture =>
  async ({ capture }) =>
    capture && captures.findPacked(capture.id);

/** Reads the large parts of a capture; null for parts that do not exist or have expired. */
export type ReadContents = Pick<BodyStore, 'packed' | 'unpackedBytesMax'>;
