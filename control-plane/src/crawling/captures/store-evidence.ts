import type { Artifact } from '@adsweep/shared/capture/artifacts.ts';
import { type Capture, subjectLanding } from '@adsweep/shared/capture/capture.ts';
import type { SentFile } from '@adsweep/shared/lease/capture-with-files.ts';
import { JOB_LIMITS } from '@adsweep/shared/lease/job-limits.ts';
import type { Logger } from '@adsweep/shared/service/logger.ts';
import { refused } from '../../http/api-error.ts';
import type { CaptureSummary, ScanRecord } from '../../scan/scan.ts';
import type { ScanStore } from '../../scan/scan-store.ts';
import type { ScanningDomain } from '../../scanning/scanning.ts';
import type { BodyStore } from './body-store.ts';
import { type CaptureRecord, captureIdOf } from './capture-record.ts';
import type { CaptureStore } from './capture-store.ts';
import { checkAdBlocks } from './check-ad-blocks.ts';
import { checkCapture, replacedMeanwhile, unnamedFile } from './check-capture.ts';
import { chooseStored } from './choose-requests.ts';
import { pictureName } from './find-artifact.ts';

export type EvidenceDependencies = {
  captures: CaptureStore;
  bodies: BodyStore;
  artifacts: ScanningDomain['stores']['artifacts'];
  scans: Pick<ScanStore, 'find' | 'membersOf'>;
  logger: Logger;
};

const TITLE_LENGTH_MAX = 1_000;

/** The attempt of a scan under the lease with this fence. */
export type Attempt = { scan: ScanRecord; fence: number };

/** What a node recorded in an attempt. `files`: those that were sent together with the capture. */
export type SentEvidence = { capture: Capture; files?: readonly SentFile[] };

/**
 * Stores the capture of an attempt and its files, and returns the summary, which the caller then writes to the scan.
 * Idempotent. Throws 422 if the capture does not match these files and what was uploaded under its lease before.
 */
export async function storeEvidence(
  { captures, bodies, artifacts, scans }: EvidenceDependencies,
  { scan, fence }: Attempt,
  { capture, files: sent = [] }: SentEvidence,
  now: Date,
): Promise<CaptureSummary> {
  const ref = { scanId: scan._id, fence };
  const received = await artifacts.receiveAll(ref, sent, now);
  const areSent = capture.artifacts.every(({ name }) => sent.some((file) => file.name === name));
  // What was uploaded before and is not named now expires within the hour.
  const uploaded = areSent
    ? []
    : (await artifacts.listOf(ref)).filter(({ name }) => !sent.some((file) => file.name === name));
  const uploads = [...uploaded, ...received];
  const stored = { ...capture, requests: chooseStored(capture), started_at: startOf(capture, scan, now) };
  const issues = checkCapture(capture, scan, uploads, JOB_LIMITS[scan.job_kind]);
  if (scan.discovery) {
    const members = await scans.membersOf({ organizationId: scan.organization_id, jobId: scan.job_id });
    issues.push(...checkAdBlocks(capture, scan, members));
  }
  const names = capture.artifacts.map(({ name }) => name);
  if (received.some(({ name }) => !names.includes(name))) issues.push(unnamedFile());
  const before = capture.artifacts.filter(({ name }) => received.every((file) => file.name !== name));
  const keepAll = async () => (await artifacts.keep(ref, uploaded, before, now)) && artifacts.keepStored(received, now);
  // Not all are kept if a file was replaced meanwhile.
  if (issues.length > 0 || !(await keepAll())) {
    await artifacts.discardStored(received);
    throw refused(issues.length > 0 ? issues : [replacedMeanwhile()]);
  }
  // Requests that are all in the record need no file of their own: the analysis reads those of the record then.
  if (stored.requests.length < capture.requests.length) await bodies.writeRequests(ref, capture.requests, now);
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

type Discarded = Pick<EvidenceDependencies, 'captures' | 'artifacts' | 'logger'> & {
  scans: Pick<EvidenceDependencies['scans'], 'find'>;
};

/**
 * Begins to remove the uploads and the capture of an attempt, unless it is the scan's accepted one. The end of the
 * attempt neither waits for this nor fails with it: another attempt has another fence, and what remains is removed when
 * it expires, or as unreferenced.
 */
export function discardEvidence(
  { captures, artifacts, scans, logger }: Discarded,
  { _id, organization_id }: Pick<ScanRecord, '_id' | 'organization_id'>,
  fence: number,
): void {
  const ref = { scanId: _id, fence };
  const id = captureIdOf(ref);
  const discard = async (): Promise<void> => {
    const scan = await scans.find(organization_id, _id);
    if (scan?.capture?.id === id) return;
    await captures.remove(id);
    await artifacts.discard(ref);
  };
  discard().catch((cause: unknown) =>
    logger.info({ scan_id: _id, fence, cause }, 'the evidence of an attempt is left to the sweeper'),
  );
}

/** When a capture began, between the start of its scan and `now`: the node's clock is not trusted. */
function startOf(
  { started_at: said }: Capture,
  { started_at: scanned }: Pick<ScanRecord, 'started_at'>,
  now: Date,
): string {
  const earliest = (scanned ?? now).getTime();
  const at = Date.parse(said);
  return new Date(Math.min(Math.max(Number.isNaN(at) ? earliest : at, earliest), now.getTime())).toISOString();
}

/**
 * The summary for the scan. The crawl time is limited to that since the scan was started, because the node's clock is
 * not trusted.
 */
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
