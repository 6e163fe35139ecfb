import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { CONTENT_TYPES } from '@adsweep/shared/capture/artifacts.ts';
import type { Capture } from '@adsweep/shared/capture/capture.ts';
import type { FailureCode } from '@adsweep/shared/failures.ts';
import type { JobMember } from '@adsweep/shared/lease/crawl-job.ts';
import type { JobLimits } from '@adsweep/shared/lease/job-limits.ts';
import type { Logger } from '@adsweep/shared/service/logger.ts';
import type { TicketTraffic } from '@adsweep/shared/targeting/exit-ticket.ts';
import type { OpenContext } from '../../browser/open-context.ts';
import { StoredFile } from './stored-file.ts';

/** A file to upload with a capture, a large one from the disk; `width` and `height` in pixels, 0 if it is no image. */
export type CaptureFile = {
  name: string;
  contentType: string;
  bytes: Uint8Array | StoredFile;
  width: number;
  height: number;
};

/** The file with these values as gzipped JSON. */
export async function jsonFile(name: string, values: readonly unknown[]): Promise<CaptureFile> {
  const bytes = await promisify(gzip)(JSON.stringify(values), { level: 3 });
  return { name, contentType: CONTENT_TYPES.gzipped_json, bytes, width: 0, height: 0 };
}

/** Removes from the disk what a capture stored there. Never throws. */
export async function removeFiles(files: readonly CaptureFile[]): Promise<void> {
  await Promise.all(files.map(({ bytes }) => (bytes instanceof StoredFile ? bytes.remove() : null)));
}

/** Why an attempt failed: the public code, and the private cause, which only our log gets. */
export type CaptureFailure = { code: FailureCode; cause: string };

/**
 * What one attempt saw. `capture` comes with `exit` and `traffic` null and `artifacts` empty, which the lease's runner
 * fills; with a `failure`, the capture is the evidence so far.
 */
export type CaptureOutcome = { capture: Capture; files: CaptureFile[]; failure: CaptureFailure | null };

/** What a capture needs to know about a job's member, and its limits. */
export type CaptureRequest = Pick<
  JobMember,
  'scan_id' | 'target' | 'referrer' | 'emulator_id' | 'discovery' | 'ad_block' | 'traceparent'
> & {
  limits: Pick<JobLimits, 'tabs' | 'landings' | 'capture_bytes'>;
};

/**
 * Captures one member of a job in an open context. `traffic` asks the gateway for the traffic so far; `signal` ends the
 * capture early.
 */
export type CapturePage = (
  request: CaptureRequest,
  open: OpenContext,
  traffic: () => Promise<TicketTraffic | null>,
  signal: AbortSignal,
  logger: Logger,
) => Promise<CaptureOutcome>;
