import { type EmittedEvent, emit } from '../../platform/outbox/outbox-entry.ts';
import { runsUnder } from '../../scan/advance.ts';
import { changeScan } from '../../scan/change-scan.ts';
import { eventPayload } from '../../scan/event-payload.ts';
import type { CaptureSummary, ScanRecord } from '../../scan/scan.ts';
import { type PublicUrls, scanLinks } from '../../scan/scan-links.ts';
import type { ScanStore } from '../../scan/scan-store.ts';
import { captureIdOf } from './capture-record.ts';
import {
  type Attempt,
  discardEvidence,
  type EvidenceDependencies,
  type SentEvidence,
  storeEvidence,
} from './store-evidence.ts';

export type AcceptDependencies = EvidenceDependencies & {
  scans: Pick<ScanStore, 'find' | 'apply'>;
  urls: PublicUrls;
  /** Called when a scan has been crawled and its outbox filled. */
  accepted: () => void;
};

/**
 * Accepts what a node recorded in an attempt, at most one capture per attempt.
 * `repeated`: the same capture was accepted before, and its response was lost. `lost`: the scan is not leased under
 * this fence; nothing is kept.
 */
export async function acceptCapture(
  dependencies: AcceptDependencies,
  attempt: Attempt,
  evidence: SentEvidence,
  now: Date,
): Promise<'accepted' | 'repeated' | 'lost'> {
  const { scans, urls } = dependencies;
  const { scan, fence } = attempt;
  if (scan.capture?.id === captureIdOf({ scanId: scan._id, fence })) return 'repeated';
  if (!runsUnder(scan, fence)) {
    discardEvidence(dependencies, scan, fence);
    return 'lost';
  }
  const summary = await storeEvidence(dependencies, attempt, evidence, now);
  const event = { type: 'capture' as const, fence, capture: summary, exit: evidence.capture.exit };
  const crawled = await changeScan(scans, scan, event, now, screenshotEvent(urls, scan, summary));
  if (!crawled) return afterLostRace(dependencies, scan, fence);
  dependencies.accepted();
  return 'accepted';
}

/** Another call changed the scan first. If that was the same request sent twice, its evidence is kept. */
async function afterLostRace(
  dependencies: AcceptDependencies,
  { _id, organization_id }: ScanRecord,
  fence: number,
): Promise<'repeated' | 'lost'> {
  discardEvidence(dependencies, { _id, organization_id }, fence);
  const scan = await dependencies.scans.find(organization_id, _id);
  return scan?.capture?.id === captureIdOf({ scanId: _id, fence }) ? 'repeated' : 'lost';
}

/** Written with the end of the crawl, so that it is queued before the scan's completion (spec 6). */
function screenshotEvent(urls: PublicUrls, scan: ScanRecord, capture: CaptureSummary): EmittedEvent[] {
  if (!capture.has_screenshot && !capture.has_creative_screenshot) return [];
  const links = scanLinks(urls, scan);
  const payload = {
    ...eventPayload(urls, scan, { status: 'crawled' }),
    screenshot_url: capture.has_screenshot ? links.screenshot : '',
    creative_screenshot_url: capture.has_creative_screenshot ? links.creativeScreenshot : '',
    page_title: capture.page_title,
  };
  return [emit('scanning.screenshot.captured', payload)];
}
