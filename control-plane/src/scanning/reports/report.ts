import type { AdBlock, AdKind, ListedAdBlock } from '@adsweep/shared/capture/ad-block.ts';
import type { CapturedLanding } from '@adsweep/shared/capture/capture.ts';
import type { CapturedHop, HopKind, SubRequest } from '@adsweep/shared/capture/hop.ts';
import type { ScannedKind } from '@adsweep/shared/capture/scanned-kind.ts';
import type { PlayedAd, VastOutcome } from '@adsweep/shared/capture/vast.ts';
import type { ScanStatus } from '@adsweep/shared/scan/scan-status.ts';
import type { Severity, SystemTag } from '../../reference/tags/system-tag.ts';
import type { ScanEvidence } from '../scans/api/evidence.ts';
import type { ScanTiming } from '../scans/api/timing.ts';

/** The definition of a tag. A report contains only tags whose visibility is `public`. */
export type TagWords = Omit<SystemTag, 'slug'>;

/** A hit of a rule: the rule's name, where it matched in words, and the matched text with the text around it. */
export type ReportMatch = { rule: string; where: string; before: string; hit: string; after: string };

/**
 * A finding. `url` '': it concerns the whole scan. `match`: the hit of the rule that found it; null: `detail` describes
 * it.
 */
export type ReportTag = {
  slug: string;
  name: string;
  category: string;
  severity: Severity;
  description: string;
  detail: string;
  url: string;
  match: ReportMatch | null;
};

/**
 * Something that was not captured, or was done to the pages so that they could be captured: a sentence. `checks`: what
 * is incomplete without it, in words, '' = the screenshots alone; null: nothing is.
 */
export type ReportLimit = { text: string; checks: string | null };

/** One hop of a redirect chain; `at_ms` since the crawl began, `status_code` 0: no response. */
export type ReportHop = { url: string; kind: HopKind; status_code: number; content_type: string; at_ms: number };

/** A tab; `picture`: whether there is a screenshot of it. */
export type ReportLanding = { ord: number; title: string; url: string; chain: ReportHop[]; picture: boolean };

/** A document between the tag and the ad. `url` '': the client sent it as text; `status_code` 0: no response. */
export type ReportWrapper = {
  depth: number;
  outcome: VastOutcome;
  url: string;
  version: string;
  ad_system: string;
  status_code: number;
  elapsed_ms: number;
};

/**
 * A declared tracker. `ad`: the index of its ad, null: it belongs to none; `at_ms`: when it fired, since the crawl
 * began, null: it did not.
 */
export type ReportTracker = {
  ad: number | null;
  event: string;
  offset: string | null;
  url: string;
  wrapper: number;
  at_ms: number | null;
  playhead_ms: number | null;
  status_code: number;
};

/** A video ad: how it was shown and what its player reported; `error_code` null: no error. */
export type ReportVideoAd = {
  title: string;
  shown: PlayedAd['shown'];
  media_url: string;
  size: string;
  declared_ms: number | null;
  played_ms: number;
  error_code: number | null;
};

/**
 * The result of a VAST tag. `picture`: whether there is a frame of the video; `companions`: the indexes of those with a
 * screenshot.
 */
export type ReportVast = {
  picture: boolean;
  companions: number[];
  version: string;
  ad_system: string;
  wrappers: ReportWrapper[];
  wrappers_left_out: number;
  ads: ReportVideoAd[];
  ads_left_out: number;
  trackers: ReportTracker[];
  trackers_left_out: number;
};

/**
 * One request of a creative with those that it caused. `url` '': the publisher page of an ad tag, which is private to
 * the client.
 */
export type ReportRequest = { url: string; type: string; status_code: number; requests: ReportRequest[] };

/**
 * The creative of an ad tag or an ad on a page. `width` and `height` in CSS pixels, 0: nothing was rendered. `picture`:
 * whether there is a screenshot. `interactive`: some of its buttons or links open nothing; null: it is not known.
 * `requests`: its documents with their requests; `left_out`: how many requests are not listed.
 */
export type ReportCreative = {
  width: number;
  height: number;
  picture: boolean;
  interactive: boolean | null;
  requests: ReportRequest[];
  left_out: number;
};

/** The purpose of requests. */
export type RequestGroup = 'documents' | 'scripts' | 'calls' | 'pictures' | 'media' | 'styles' | 'others';

/**
 * A company that received requests. `domains`: those other than its name; `groups`: its requests by purpose; `marks`:
 * the first ones in time.
 */
export type ReportCompany = {
  name: string;
  domains: string[];
  requests: number;
  bytes: number;
  groups: { group: RequestGroup; requests: number }[];
  marks: { group: RequestGroup; at_ms: number }[];
};

/** All companies, in the order of their first requests; times in ms since the capture began. */
export type ReportCompanies = {
  from_ms: number;
  until_ms: number;
  requests: number;
  companies: ReportCompany[];
  left_out: number;
};

/** A size in CSS pixels. */
export type Size = { width: number; height: number };

/** Where an ad is on its page, in CSS pixels. */
export type AdPlace = Pick<AdBlock, 'x' | 'y' | 'width' | 'height'>;

/**
 * An ad on a page. `number`: its position on the page, from 1; `place` null: it is a pop; `network_host` '': not known.
 * `picture`: the last segments of the address of its picture, relative to the report of its scan.
 */
export type ReportAd = {
  number: number;
  kind: AdKind;
  network: string;
  network_host: string;
  place: AdPlace | null;
  /** Why there is no scan of it; `removed`: there was one. null: there is one. */
  not_scanned: ListedAdBlock['not_scanned'] | 'removed';
  scan: ReportAdScan | null;
};

/**
 * The scan of an ad on a page. `token`: the last segment of the address of its report; `landing_url` '': no click
 * opened anything.
 */
export type ReportAdScan = {
  token: string;
  status: ScanStatus;
  error: string;
  tags: Pick<ReportTag, 'slug' | 'name' | 'severity'>[];
  landing_url: string;
  picture: 'creative-screenshot' | 'landings/0/screenshot' | null;
};

/** The ads that a sweep found; `page`: the part of the page that its picture shows, null: there is no picture. */
export type ReportSweep = { ads: ReportAd[]; page: Size | null };

/**
 * The place of a scanned ad among the others of its page. `page`: the token of the sweep's report and the part of the
 * page that its picture shows (null: no picture); null: that report was removed.
 */
export type ReportPlace = {
  ad: Pick<ReportAd, 'number' | 'kind' | 'network' | 'network_host' | 'place'>;
  page: { token: string; size: Size | null } | null;
  previous: ReportNeighbour | null;
  next: ReportNeighbour | null;
};
export type ReportNeighbour = { token: string; number: number };

/**
 * Everything that a public report contains: of the campaign only its name, no organization, label, key or IP address,
 * and of other scans only those of the same sweep. Texts are unescaped, as the hostile page supplied them; the
 * templates escape them.
 */
export type Report = {
  /** The last segment of the report's own address. */
  token: string;
  status: ScanStatus;
  /** The failure code of a failed scan; what a partial one lacks besides its `limits`; otherwise ''. */
  error: string;
  limits: ReportLimit[];
  /** `url` of an ad on a page: that of the page; null: the target is a tag, whose text is private to the client. */
  target: { kind: ScannedKind; url: string | null };
  /** The name of the scan's campaign; null: it has none. */
  campaign: string | null;
  country: string;
  /**
   * Requested and actual properties of the exit; empty before there is one. Its IP address, place and provider stay
   * private.
   */
  exit: [property: string, requested: string, actual: string][];
  device: string;
  /** Whether the device's screen is taller than it is wide. */
  is_tall: boolean;
  created_at: Date;
  /** Attempts after the first. */
  retries: number;
  tags: ReportTag[];
  landings: ReportLanding[];
  /** The result of a video ad tag; null for other targets and if nothing was loaded. */
  vast: ReportVast | null;
  /** null: it is no scan of an ad that a browser renders, or nothing was loaded. */
  creative: ReportCreative | null;
  /** null: it is no sweep. */
  sweep: ReportSweep | null;
  /** null: it is no scan of an ad on a page. */
  place: ReportPlace | null;
  /** null: nothing was requested. */
  companies: ReportCompanies | null;
  /** Kind of classification and its value, such as `['Brand', 'Evenlight']`. */
  classification: [kind: string, value: string][];
  timing: ScanTiming | null;
};

/** The evidence of a capture that a report needs. */
export type SeenEvidence = Omit<ScanEvidence, 'landings'> & { landings: readonly SeenLanding[] };

/** The fields of a landing that a report needs. */
export type SeenLanding = Pick<CapturedLanding, 'ord' | 'final_url' | 'page_title' | 'screenshot'> & {
  redirect_chain: readonly (CapturedHop & { sub_requests?: readonly SubRequest[] })[];
};

/** Maximum lengths of a page's texts in a report, in UTF-16 code units. */
export const URL_MAX = 4_096;
/** Maximum length of URLs in long lists: trackers and a creative's requests. */
export const LISTED_URL_MAX = 1_024;
export const DETAIL_MAX = 2_000;
export const TITLE_MAX = 300;
export const TYPE_MAX = 60;

/** The first `max` UTF-16 code units of a text, with a note of how many are omitted. */
export function clip(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, max).toWellFormed()}… (${text.length - max} more characters)`;
}
