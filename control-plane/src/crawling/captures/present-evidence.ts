import type { Capture, CapturedLanding } from '@adsweep/shared/capture/capture.ts';
import type { EvidenceCreative, EvidenceLanding, ScanEvidence } from '../../scanning/scans/api/evidence.ts';
import type { CaptureRecord } from './capture-record.ts';
import { presentVast } from './present-vast.ts';
import { presentChain, type RequestTrees, requestTrees } from './request-trees.ts';

/** What a capture tells of its scan: landings by ordinal and the creative, each hop with the tree of requests that its document made. */
export function evidenceOf({ capture, artifacts }: Pick<CaptureRecord, 'capture' | 'artifacts'>): ScanEvidence {
  const trees = requestTrees(capture);
  return {
    landings: presentLandings(capture, trees),
    creative: presentCreative(capture, trees),
    vast: capture.vast ? presentVast(capture.vast) : null,
    artifacts: new Set(artifacts.map(({ name }) => name)),
  };
}

/** The landings of a capture by ordinal, each hop with the tree of requests its document made. */
export const landingsOf = ({ capture }: Pick<CaptureRecord, 'capture'>): EvidenceLanding[] =>
  presentLandings(capture, requestTrees(capture));

function presentLandings(capture: Capture, trees: RequestTrees): EvidenceLanding[] {
  return capture.landings
    .toSorted((a, b) => a.ord - b.ord)
    .map((landing) => ({
      ord: landing.ord,
      opener_url: landing.opener_url,
      final_url: landing.final_url,
      offer_url: landing.final_url,
      page_title: landing.page_title,
      screenshot: landing.screenshot,
      redirect_chain: presentChain(landing.redirect_chain, landing.ord, trees),
      elapsed_ms: landing.elapsed_ms,
      created_at: openedAt(capture, landing),
    }));
}

function presentCreative({ creative }: Capture, trees: RequestTrees): EvidenceCreative | null {
  if (!creative) return null;
  const { width, height, page_url, redirect_chain } = creative;
  return { width, height, page_url, redirect_chain: presentChain(redirect_chain, 'creative', trees) };
}

function openedAt(capture: Capture, landing: CapturedLanding): Date {
  const started = Date.parse(capture.started_at);
  return new Date((Number.isNaN(started) ? 0 : started) + landing.opened_at_ms);
}
