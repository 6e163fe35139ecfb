import { CREATIVE_SCREENSHOT } from '@adsweep/shared/capture/artifacts.ts';
import type { SubRequest } from '@adsweep/shared/capture/hop.ts';
import { type ScannedKind, scannedKind, showsCreative } from '@adsweep/shared/capture/scanned-kind.ts';
import type { ScanStatus } from '@adsweep/shared/scan/scan-status.ts';
import type { ScanRecord } from '../../scan/scan.ts';
import { companionsIn, type EvidenceVast } from '../scans/api/evidence.ts';
import {
  clip,
  LISTED_URL_MAX,
  type ReportCreative,
  type ReportRequest,
  type ReportTracker,
  type ReportVast,
  type ReportVideoAd,
  type ReportWrapper,
  type SeenEvidence,
  type TagWords,
  TITLE_MAX,
  TYPE_MAX,
  URL_MAX,
} from './report.ts';

/** Maximum number and depth of a creative's requests in a report. */
export const REQUESTS_MAX = 200;
const DEPTH_MAX = 8;

/**
 * The public view of the creative of an ad tag or an ad on a page. The URL of a tag's publisher page is private to the
 * client and left out.
 */
export function publicCreative(
  scan: ScanRecord,
  { creative, artifacts }: SeenEvidence,
  tagWords: (slug: string) => TagWords | null,
): ReportCreative | null {
  if (!creative || !showsCreative(scan) || scan.target.kind === 'vast_tag') return null;
  const { width, height, page_url, redirect_chain } = creative;
  const budget = { left: REQUESTS_MAX };
  const documents = redirect_chain.map((hop) => ({
    url: hop.url === page_url ? '' : clip(hop.url, URL_MAX),
    type: 'document',
    status_code: hop.status_code,
    requests: publicRequests(hop.sub_requests, budget, 1),
  }));
  const requests = [...documents, ...publicRequests(creative.requests, budget, 1)];
  const ofHops = redirect_chain.reduce((sum, { sub_requests }) => sum + countRequests(sub_requests), 0);
  const all = ofHops + countRequests(creative.requests);
  return {
    width,
    height,
    picture: artifacts.has(CREATIVE_SCREENSHOT),
    interactive: tagWords(INTERACTIVE) ? isInteractive(scannedKind(scan), scan) : null,
    requests,
    left_out: all - (REQUESTS_MAX - budget.left),
  };
}

/** The tag of a creative that is interactive. While it is archived, no report says whether one is. */
export const INTERACTIVE = 'creative_interactive';

/**
 * Whether some buttons or links of a creative open nothing. null: it is not known, because the analysis has not ended
 * or lacks something, or because those of a video are not tried.
 */
export function isInteractive(
  kind: ScannedKind,
  { status, tags }: { status: ScanStatus; tags: readonly { tag_slug: string }[] },
): boolean | null {
  if (tags.some(({ tag_slug }) => tag_slug === INTERACTIVE)) return true;
  return status === 'completed' && kind !== 'video' ? false : null;
}

/** Requests with those that they caused, as many as the budget has left. */
export function publicRequests(all: readonly SubRequest[], budget: { left: number }, depth: number): ReportRequest[] {
  if (depth > DEPTH_MAX) return [];
  return all.flatMap(({ url, resource_type: type, status_code, children }) => {
    if (budget.left === 0) return [];
    budget.left -= 1;
    const requests = publicRequests(children, budget, depth + 1);
    return [{ url: clip(url, LISTED_URL_MAX), type: clip(type, TYPE_MAX), status_code, requests }];
  });
}

export const countRequests = (all: readonly SubRequest[]): number =>
  all.reduce((sum, { children }) => sum + 1 + countRequests(children), 0);

/**
 * The public view of a VAST tag. `artifacts`: the scan's files; `privateUrl`: the URL listed for a document sent as
 * text, left out.
 */
export function publicVast(vast: EvidenceVast, artifacts: SeenEvidence['artifacts'], privateUrl: string): ReportVast {
  const { video, wrappers, ads, trackers } = vast;
  return {
    picture: artifacts.has(CREATIVE_SCREENSHOT),
    companions: companionsIn(artifacts),
    version: clip(video?.vast_version ?? '', TYPE_MAX),
    ad_system: clip(video?.ad_system ?? '', TITLE_MAX),
    wrappers: wrappers.map((wrapper) => publicWrapper(wrapper, privateUrl)),
    wrappers_left_out: vast.wrappers_left_out,
    ads: ads.map(publicVideoAd),
    ads_left_out: vast.ads_left_out,
    trackers: trackers.map(publicTracker),
    trackers_left_out: vast.trackers_left_out,
  };
}

type Wrapper = EvidenceVast['wrappers'][number];
function publicWrapper(wrapper: Wrapper, privateUrl: string): ReportWrapper {
  const { depth, outcome, url, vast_version, ad_system, status_code, elapsed_ms } = wrapper;
  const isSent = privateUrl !== '' && url === privateUrl;
  return {
    depth,
    outcome,
    url: isSent ? '' : clip(url, URL_MAX),
    version: clip(vast_version, TYPE_MAX),
    ad_system: clip(ad_system, TITLE_MAX),
    status_code: isSent ? 0 : status_code,
    elapsed_ms,
  };
}

type Ad = EvidenceVast['ads'][number];
function publicVideoAd({ title, shown, media, duration_ms, played_ms, error_code }: Ad): ReportVideoAd {
  const last = media.at(-1);
  const size = last && last.width > 0 ? `${last.width} × ${last.height}` : '';
  const media_url = clip(last?.url ?? '', URL_MAX);
  return { title: clip(title, TITLE_MAX), shown, media_url, size, declared_ms: duration_ms, played_ms, error_code };
}

type Tracker = EvidenceVast['trackers'][number];
function publicTracker(tracker: Tracker): ReportTracker {
  const { ad, event, offset, url, wrapper, requested_at_ms, playhead_ms, status_code } = tracker;
  return {
    ad,
    event: clip(event, TYPE_MAX),
    offset: offset && clip(offset, TYPE_MAX),
    url: clip(url, LISTED_URL_MAX),
    wrapper,
    at_ms: requested_at_ms,
    playhead_ms,
    status_code,
  };
}
