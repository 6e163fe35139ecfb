import { CREATIVE_SCREENSHOT, companionScreenshot } from '@adsweep/shared/capture/artifacts.ts';
import type { EvidenceVast } from '../scans/api/evidence.ts';
import { clip, LISTED_URL_MAX, TITLE_MAX, TYPE_MAX, URL_MAX } from './clip.ts';
import type { ReportRung, ReportTracker, ReportVast, ReportVideoAd } from './report.ts';

/** Companions that a browser node pictures: five of each of five ads. */
const COMPANIONS_MAX = 25;

/** What came of a VAST tag; `artifacts` are the names of its stored files, `privateUrl` names no server and is not repeated. */
export function publicVast(vast: EvidenceVast, artifacts: ReadonlySet<string>, privateUrl: string): ReportVast {
  const { video, wrappers, ads, trackers } = vast;
  const companions = Array.from({ length: COMPANIONS_MAX }, (_, at) => at);
  return {
    picture: artifacts.has(CREATIVE_SCREENSHOT),
    companions: companions.filter((at) => artifacts.has(companionScreenshot(at))),
    version: clip(video?.vast_version ?? '', TYPE_MAX),
    ad_system: clip(video?.ad_system ?? '', TITLE_MAX),
    rungs: wrappers.map((rung) => publicRung(rung, privateUrl)),
    rungs_left_out: vast.wrappers_left_out,
    ads: ads.map(publicVideoAd),
    ads_left_out: vast.ads_left_out,
    trackers: trackers.map(publicTracker),
    trackers_left_out: vast.trackers_left_out,
  };
}

type Rung = EvidenceVast['wrappers'][number];
function publicRung(rung: Rung, privateUrl: string): ReportRung {
  const { depth, outcome, url, vast_version, ad_system, status_code, elapsed_ms } = rung;
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
    rung: wrapper,
    at_ms: requested_at_ms,
    playhead_ms,
    status_code,
  };
}
