import type { CapturedLanding } from '@adsweep/shared/capture/capture.ts';
import type { CapturedHop, HopKind, SubRequest } from '@adsweep/shared/capture/hop.ts';
import type { PlayedAd, VastOutcome } from '@adsweep/shared/capture/vast.ts';
import type { ScanStatus } from '@adsweep/shared/scan/scan-status.ts';
import type { TargetKind } from '@adsweep/shared/scan/target.ts';
import type { Severity } from '../../reference/tags/system-tag.ts';
import type { ScanEvidence } from '../scans/api/evidence.ts';
import type { ScanTiming } from '../scans/api/timing.ts';

/** Where a rule found something: its name, the place in words, and the text around the hit. */
export type ReportMatch = { rule: string; where: string; before: string; hit: string; after: string };

/** A finding as readers see it; `url` '' = it is about the whole scan. `match`: a rule found it, and says where; null: it says `detail`. */
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

/** One step of a chain; `at_ms` since the crawl began, `status_code` 0 = no answer came. */
export type ReportHop = { url: string; kind: HopKind; status_code: number; content_type: string; at_ms: number };

/** A tab; `picture` says whether a screenshot of it can be had. */
export type ReportLanding = { ord: number; title: string; url: string; chain: ReportHop[]; picture: boolean };

/** A document on the way from the tag to the ad; `url` '' = the client sent it as text, `status_code` 0 = no server answered. */
export type ReportWrapper = {
  depth: number;
  outcome: VastOutcome;
  url: string;
  version: string;
  ad_system: string;
  status_code: number;
  elapsed_ms: number;
};

/** A tracker, declared against fired: `ad` its place among the ads, null = it belongs to none; `at_ms` since the crawl began, null = it was not asked for. */
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

/** A video ad: how it was shown and what its player told; `error_code` null = nothing went wrong. */
export type ReportVideoAd = {
  title: string;
  shown: PlayedAd['shown'];
  media_url: string;
  size: string;
  declared_ms: number | null;
  played_ms: number;
  error_code: number | null;
};

/** `picture`: whether a frame can be shown; `companions`: the places of those whose picture can be. */
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

/** One request of a creative with those that it caused; `url` '' = the publisher's page, which is the client's own. */
export type ReportRequest = { url: string; type: string; status_code: number; requests: ReportRequest[] };

/**
 * The creative of an ad tag: its size in CSS pixels, 0 = nothing was rendered; whether a picture of it can be had; whether some of its
 * buttons or links open nothing; its documents with what they asked for, and how many requests more there were.
 */
export type ReportCreative = {
  width: number;
  height: number;
  picture: boolean;
  interactive: boolean;
  requests: ReportRequest[];
  left_out: number;
};

/** What requests are for. */
export type RequestGroup = 'documents' | 'scripts' | 'calls' | 'pictures' | 'media' | 'styles' | 'others';

/** A company that was asked for something: its domains beside its name, its requests by what they are for, and the first of them in time. */
export type ReportCompany = {
  name: string;
  domains: string[];
  requests: number;
  bytes: number;
  groups: { group: RequestGroup; requests: number }[];
  marks: { group: RequestGroup; at_ms: number }[];
};

/** All companies, by who was asked first; times in ms since the capture began. */
export type ReportCompanies = {
  from_ms: number;
  until_ms: number;
  requests: number;
  companies: ReportCompany[];
  left_out: number;
};

/**
 * All that a public report says of a scan, and nothing else: no organization, campaign, label, key, address, or other scan.
 * Texts are as the hostile page gave them; the page escapes them.
 */
export type Report = {
  /** The last segment of the report's own address. */
  token: string;
  status: ScanStatus;
  /** Failure code of a failed scan; of a partial one what is missing; else ''. */
  error: string;
  /** `url` null where the target is a tag: its text is the client's own. */
  target: { kind: TargetKind; url: string | null };
  country: string;
  /** What was asked of the exit and what was got; none before there is one. Its address, place and provider stay private. */
  exit: [what: string, asked: string, got: string][];
  device: string;
  /** Whether the device's screen is higher than it is wide. */
  is_tall: boolean;
  created_at: Date;
  /** Attempts after the first. */
  retries: number;
  tags: ReportTag[];
  landings: ReportLanding[];
  /** What came of a video ad tag, null for other targets and where nothing was fetched. */
  vast: ReportVast | null;
  /** null: the target is no ad tag, or was not seen. */
  creative: ReportCreative | null;
  /** null: nothing was asked for. */
  companies: ReportCompanies | null;
  /** Kind of classification and its value, such as `['Brand', 'Evenlight']`. */
  classification: [kind: string, value: string][];
  timing: ScanTiming | null;
};

/** What a report needs of a capture. */
export type SeenEvidence = Omit<ScanEvidence, 'landings'> & { landings: readonly SeenLanding[] };

/** What a report needs of a landing. */
export type SeenLanding = Pick<CapturedLanding, 'ord' | 'final_url' | 'page_title' | 'screenshot'> & {
  redirect_chain: readonly (CapturedHop & { sub_requests?: readonly SubRequest[] })[];
};

/** Longest texts of a page that a report repeats, in UTF-16 units. */
export const URL_MAX = 8_192;
/** The same for URLs of long lists: trackers and a creative's requests. */
export const LISTED_URL_MAX = 2_048;
export const DETAIL_MAX = 2_000;
export const TITLE_MAX = 300;
export const TYPE_MAX = 60;

/** The first `max` UTF-16 units of a text, and how many more there were. */
export function clip(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, max)}… (${text.length - max} more characters)`;
}
