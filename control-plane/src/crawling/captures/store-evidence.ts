import type { Artifact } from '@adsweep/shared/capture/artifacts.ts';
import type { Capture } from '@adsweep/shared/capture/capture.ts';
import { subjectLanding } from '@adsweep/shared/capture/capture.ts';
import { JOB_LIMITS } from '@adsweep/shared/lease/job-limits.ts';
import { refused } from '../../http/api-error.ts';
import type { CaptureSummary, ScanRecord } from '../../scan/scan.ts';
import type { ScanStore } from '../../scan/scan-store.ts';
import type { ScanningDomain } from '../../scanning/scanning.ts';
import type { BodyStore } from './body-store.ts';
import { type CaptureRecord, captureIdOf } from './capture-record.ts';
import type { CaptureStore } from './capture-store.ts';
import { checkAdBlocks } from './check-ad-blocks.ts';
import { checkCapture, replacedMeanwhile } from './check-capture.ts';
import { chooseStored } from './choose-requests.ts';
import { pictureName } from './open-artifact.ts';

export type EvidenceDependencies = {
  captures: CaptureStore;
  bodies: BodyStore;
  artifacts: ScanningDomain['stores']['artifacts'];
  scans: Pick<ScanStore, 'find' | 'membersOf'>;
};

const TITLE_LENGTH_MAX = 1_000;

/**
 * Stores the capture of an attempt and returns its summary, which the caller then writes to the scan. Idempotent. Throws 422 if the capture
 * does not match what was uploaded under its lease.
 */
export async function storeEvidence(
  { captures, bodies, artifacts, scans }: EvidenceDependencies,
  scan: ScanRecord,
  fence: number,
  capture: Capture,
  now: Date,
): Promise<CaptureSummary> {
  const ref = { scanId: scan._id, fence };
  const uploads = await artifacts.listOf(ref);
  const stored = { ...capture, requests: chooseStored(capture) };
  const issues = checkCapture(capture, scan, uploads, JOB_LIMITS[scan.job_kind]);
  if (scan.discovery) {
    const members = await scans.membersOf({ organizationId: scan.organization_id, jobId: scan.job_id });
    issues.push(...checkAdBlocks(capture, scan, members));
  }
  if (issues.length > 0) throw refused(issues);

  const names = capture.artifacts.map(({ name }) => name);
  const areKept = await artifacts.keep(ref, uploads, capture.artifacts, now);
  if (!areKept) throw refused([replacedMeanwhile()]);
  await bodies.writeRequests(ref, capture.requests, now);
  const measured = uploads.filter(({ name }) => names.includes(name)).map(asArtifact);
  const record: CaptureRecord = {
    _id: captureIdOf(ref),
    scan_id: scan._id,
    organization_id: scan.organization_id,
    fence,
    capture: stored,
    requests_seen: capture.requests.length,
    artifacts: measured,
    created_at: now,
  };
  await captures.insert(record);
  return summaryOf(record, scan, now);
}

/** Removes the uploads and the capture of an attempt, unless it is the scan's accepted one. */
export async function discardEvidence(
  { captures, artifacts, scans }: EvidenceDependencies,
  { _id, organization_id }: Pick<ScanRecord, '_id' | 'organization_id'>,
  fence: number,
): Promise<void> {
  const ref = { scanId: _id, fence };
  const id = captureIdOf(ref);
  const scan = await scans.find(organization_id, _id);
  if (scan?.capture?.id === id) return;
  await captures.remove(id);
  await artifacts.discard(ref);
}

/** The summary for the scan. The crawl time is limited to that since the scan was started, because the node's clock is not trusted. */
function summaryOf(record: CaptureRecord, { started_at }: ScanRecord, now: Date): CaptureSummary {
  const { _id, capture } = record;
  const page = subjectLanding(capture.landings);
  const title = page ? page.page_title : (capture.creative?.page_title ?? '');
  return {
    id: _id,
    offer_url: page?.final_url ?? '',
    page_title: title.slice(0, TITLE_LENGTH_MAX).toWellFormed(),
    has_screenshot: pictureName(record, 'page') !== null,
    has_creative_screenshot: pictureName(record, 'creative') !== null,
    crawl_ms: Math.min(capture.elapsed_ms, Math.max(0, now.getTime() - (started_at ?? now).getTime())),
    landings: capture.landings.length,
  };
}

function asArtifact({ name, sha256, bytes, content_type, width, height }: Artifact): Artifact {
  return { name, sha256, bytes, content_type, width, height };
}
