import type { Capture } from '@adsweep/shared/capture/capture.ts';
import { type EmittedEvent, emit } from '../../platform/outbox/emit.ts';
import { changeScan } from '../../scanning/scans/state/change-scan.ts';
import type { FarmScans } from '../../scanning/scans/state/farm-scans.ts';
import type { CaptureSummary, ScanRecord } from '../../scanning/scans/state/scan.ts';
import { scanLinks } from '../../scanning/scans/state/scan-links.ts';
import type { LeaseRef } from '../queue/queue.ts';
import { captureIdOf } from './capture-record.ts';
import { discardEvidence, type EvidenceDependencies, storeEvidence } from './store-evidence.ts';

export type AcceptDependencies = EvidenceDependencies & {
  scans: Pick<FarmScans, 'findForWork' | 'apply'>;
  publicUrl: string;
  /** Says that a scan has been crawled, and that there is something in its outbox. */
  accepted: () => void;
};

/**
 * Accepts a node's capture: at most one per attempt, whoever wakes up late. `repeated`: this very capture was accepted before, its
 * answer must have been lost. `lost`: the scan does not name this lease (any more), and nothing is kept.
 */
export async function acceptCapture(
  dependencies: AcceptDependencies,
  ref: LeaseRef,
  capture: Capture,
  now: Date,
): Promise<'accepted' | 'repeated' | 'lost'> {
  const { scans, publicUrl } = dependencies;
  const scan = await scans.findForWork(ref.scanId);
  if (scan?.capture?.id === captureIdOf(ref)) return 'repeated';
  if (scan?.status !== 'running' || scan.lease?.fence !== ref.fence) {
    await discardEvidence(dependencies, ref);
    return 'lost';
  }
  const summary = await storeEvidence(dependencies, scan, ref, capture, now);
  const event = { type: 'capture' as const, fence: ref.fence, capture: summary, exit: capture.exit };
  const crawled = await changeScan(scans, scan, event, now, screenshotEvent(publicUrl, scan, summary, now));
  if (!crawled) return afterLostRace(dependencies, ref);
  dependencies.accepted();
  return 'accepted';
}

/** Who was faster may have been this very call, sent twice: what the scan names stays. */
async function afterLostRace(dependencies: AcceptDependencies, ref: LeaseRef): Promise<'repeated' | 'lost'> {
  await discardEvidence(dependencies, ref);
  const scan = await dependencies.scans.findForWork(ref.scanId);
  return scan?.capture?.id === captureIdOf(ref) ? 'repeated' : 'lost';
}

/** Written with the end of the crawl, so that it is queued before the scan's completion (spec 6). */
function screenshotEvent(publicUrl: string, scan: ScanRecord, capture: CaptureSummary, now: Date): EmittedEvent[] {
  if (!capture.has_screenshot) return [];
  const links = scanLinks(publicUrl, scan);
  const payload = {
    scan_id: scan._id,
    screenshot_url: links.screenshot,
    creative_screenshot_url: '',
    page_title: capture.page_title,
    report_url: links.report,
    public_report_url: links.publicReport,
  };
  return [emit('scanning.screenshot.captured', payload, now)];
}
