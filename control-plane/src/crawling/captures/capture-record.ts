import type { Artifact } from '@adsweep/shared/capture/artifacts.ts';
import type { Capture } from '@adsweep/shared/capture/capture.ts';
import type { AttemptRef } from '../../scanning/artifacts/artifact.ts';

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
