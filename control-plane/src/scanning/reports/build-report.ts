import { companionScreenshot } from '@adsweep/shared/capture/artifacts/companion-screenshot.ts';
import { CREATIVE_SCREENSHOT } from '@adsweep/shared/capture/artifacts/creative-screenshot.ts';
import type { CapturedLanding } from '@adsweep/shared/capture/capture.ts';
import type { CapturedHop, SubRequest } from '@adsweep/shared/capture/hop.ts';
import { findEmulator } from '@adsweep/shared/scan/emulators.ts';
import { SEVERITIES, type SystemTag } from '../../reference/tags/system-tag.ts';
import type { EvidenceVast, ScanEvidence } from '../scans/api/evidence.ts';
import { timingOf } from '../scans/api/timing.ts';
import { matchWords } from '../scans/state/place-words.ts';
import type { Classification, ScanRecord, ScanTag, Tiers } from '../scans/state/scan.ts';
import type {
  Report,
  ReportCompany,
  ReportCreative,
  ReportHop,
  ReportLanding,
  ReportMatch,
  ReportRequest,
  ReportTag,
  ReportVast,
  ReportVideoAd,
} from './report.ts';
import { requestsByCompany } from './requests-by-company.ts';
import { countryName } from './words.ts';

/** Longest texts of a page that a report repeats, in UTF-16 units. */
const URL_MAX = 8_192;
/** The same for URLs of long lists: trackers and a creative's requests. */
const LISTED_URL_MAX = 2_048;
const DETAIL_MAX = 2_000;
const TITLE_MAX = 300;
const TYPE_MAX = 60;
/** Requests of a creative that a report lists, and how deep. */
const REQUESTS_MAX = 200;
const DEPTH_MAX = 8;
/** Companions of a video ad that are shown. */
const COMPANIONS_MAX = 10;

/** How a tag is described; only a `public` one may be named in a report. */
export type TagWords = Omit<SystemTag, 'slug'>;

/** What a report needs of a capture. */
export type SeenEvidence = Omit<ScanEvidence, 'landings'> & { landings: readonly SeenLanding[] };

/** What a report needs of a landing. */
export type SeenLanding = Pick<CapturedLanding, 'ord' | 'final_url' | 'page_title' | 'screenshot'> & {
  redirect_chain: readonly (CapturedHop & { sub_requests?: readonly SubRequest[] })[];
};

/**
 * The public view of a scan (spec 1, 2.5): it names every field it takes, so that a new field of the record stays private.
 * `evidence` is what its capture tells; `tagWords` knows no archived tag.
 */
export function buildReport(
  scan: ScanRecord,
  evidence: SeenEvidence,
  tagWords: (slug: string) => TagWords | null,
): Report {
  const emulator = findEmulator(scan.emulator_id);
  return {
    token: scan.report_token,
    status: scan.status,
    error: scan.error,
    target: { kind: scan.target.kind, url: scan.target.kind === 'url' ? clip(scan.target.value, URL_MAX) : null },
    country: countryName(scan.country_code),
    exit: exitRows(scan),
    device: emulator?.display_name ?? scan.emulator_id,
    is_tall: emulator !== null && emulator.device.viewport.height > emulator.device.viewport.width,
    created_at: scan.created_at,
    retries: scan.retry_attempt,
    tags: scan.tags.flatMap((tag) => publicTag(tag, tagWords)).sort(bySeverity),
    landings: evidence.landings.map(publicLanding).sort((one, other) => one.ord - other.ord),
    vast: evidence.vast && publicVast(evidence.vast, evidence.artifacts),
    creative: publicCreative(scan, evidence),
    companies: publicCompanies(evidence),
    classification: classificationRows(scan.classification),
    timing: timingOf(scan),
  };
}

function exitRows({ country_code, proxy, exit }: ScanRecord): Report['exit'] {
  if (!exit) return [];
  const found = exit.observed_country_code;
  return [
    ['Country', countryName(country_code), found ? countryName(found) : 'not checked'],
    ['Pool', proxy?.proxy_type ?? 'residential', exit.proxy_type],
  ];
}

function publicTag(tag: ScanTag, tagWords: (slug: string) => TagWords | null): ReportTag[] {
  const words = tagWords(tag.tag_slug);
  if (words?.visibility !== 'public') return [];
  const { display_name: name, category, severity, description } = words;
  const detail = tag.match ? '' : clip(tag.detail, DETAIL_MAX);
  const [url, match] = [clip(tag.url, URL_MAX), publicMatch(tag)];
  return [{ slug: tag.tag_slug, name, category, severity, description, detail, url, match }];
}

/** A rule that looks for a text in a page can find the marks of the hit there: the first ones count. */
function publicMatch({ match }: ScanTag): ReportMatch | null {
  if (!match) return null;
  const [, before = match.excerpt, hit = '', after = ''] = /^([^«]*)«([^»]*)»(.*)$/su.exec(match.excerpt) ?? [];
  const rule = clip(match.rule_name ?? '', TITLE_MAX);
  return { rule, where: matchWords(match), before, hit, after };
}

const bySeverity = (one: ReportTag, other: ReportTag): number =>
  SEVERITIES.indexOf(one.severity) - SEVERITIES.indexOf(other.severity);

function publicLanding({ ord, final_url, page_title, redirect_chain, screenshot }: SeenLanding): ReportLanding {
  return {
    ord,
    title: clip(page_title, TITLE_MAX),
    url: clip(final_url, URL_MAX),
    chain: redirect_chain.map(publicHop),
    picture: screenshot !== null,
  };
}

/** The address of the page that it stands on is the client's own, and is left out. */
function publicCreative(scan: ScanRecord, { creative, artifacts }: SeenEvidence): ReportCreative | null {
  if (!creative || scan.target.kind !== 'ad_tag') return null;
  const { width, height, page_url, redirect_chain } = creative;
  const room = { left: REQUESTS_MAX };
  const requests = redirect_chain.map((hop) => ({
    url: hop.url === page_url ? '' : clip(hop.url, URL_MAX),
    type: 'document',
    status_code: hop.status_code,
    requests: publicRequests(hop.sub_requests, room, 1),
  }));
  const all = redirect_chain.reduce((sum, { sub_requests }) => sum + countRequests(sub_requests), 0);
  return {
    width,
    height,
    picture: artifacts.has(CREATIVE_SCREENSHOT),
    interactive: scan.tags.some(({ tag_slug }) => tag_slug === 'creative_interactive'),
    requests,
    left_out: all - (REQUESTS_MAX - room.left),
  };
}

const countRequests = (all: readonly SubRequest[]): number =>
  all.reduce((sum, { children }) => sum + 1 + countRequests(children), 0);

/** The publisher that an ad stands on is the client's own, and is left out. A video ad's own requests are its trackers. */
function publicCompanies({ creative, landings, vast }: SeenEvidence): Report['companies'] {
  const trackers = (vast?.trackers ?? []).flatMap(({ requested_url, requested_at_ms }) =>
    requested_at_ms === null ? [] : [{ url: requested_url, type: 'ping', body_size: 0, timestamp_ms: requested_at_ms }],
  );
  const hops = [...(creative?.redirect_chain ?? []), ...landings.flatMap(({ redirect_chain }) => redirect_chain)];
  const documents = [...trackers, ...hops];
  const seen = requestsByCompany(documents, creative ? (URL.parse(creative.page_url)?.host ?? '') : '');
  const clipped = (company: ReportCompany) => ({
    ...company,
    name: clip(company.name, TITLE_MAX),
    domains: company.domains.map((domain) => clip(domain, TITLE_MAX)),
  });
  return seen && { ...seen, companies: seen.companies.map(clipped) };
}

function publicRequests(all: readonly SubRequest[], room: { left: number }, depth: number): ReportRequest[] {
  if (depth > DEPTH_MAX) return [];
  return all.flatMap(({ url, resource_type: type, status_code, children }) => {
    if (room.left === 0) return [];
    room.left -= 1;
    const requests = publicRequests(children, room, depth + 1);
    return [{ url: clip(url, LISTED_URL_MAX), type: clip(type, TYPE_MAX), status_code, requests }];
  });
}

function publicHop({ url, kind, status_code, content_type, timestamp_ms }: CapturedHop): ReportHop {
  const type = content_type.split(';')[0]!.trim();
  return { url: clip(url, URL_MAX), kind, status_code, content_type: clip(type, TYPE_MAX), at_ms: timestamp_ms };
}

function publicVast({ video, wrappers, ads, trackers }: EvidenceVast, artifacts: ReadonlySet<string>): ReportVast {
  return {
    picture: artifacts.has(CREATIVE_SCREENSHOT),
    companions: Array.from({ length: COMPANIONS_MAX }, (_, at) => at).filter((at) =>
      artifacts.has(companionScreenshot(at)),
    ),
    version: clip(video?.vast_version ?? '', TYPE_MAX),
    ad_system: clip(video?.ad_system ?? '', TITLE_MAX),
    rungs: wrappers.map(({ depth, outcome, url, vast_version, ad_system, status_code, elapsed_ms }) => ({
      depth,
      outcome,
      url: clip(url, URL_MAX),
      version: clip(vast_version, TYPE_MAX),
      ad_system: clip(ad_system, TITLE_MAX),
      status_code,
      elapsed_ms,
    })),
    ads: ads.map(publicVideoAd),
    trackers: trackers.map(({ event, offset, url, wrapper, requested_at_ms, playhead_ms, status_code }) => ({
      event: clip(event, TYPE_MAX),
      offset: offset && clip(offset, TYPE_MAX),
      url: clip(url, LISTED_URL_MAX),
      rung: wrapper,
      at_ms: requested_at_ms,
      playhead_ms,
      status_code,
    })),
  };
}

function publicVideoAd({
  title,
  shown,
  media,
  duration_ms,
  played_ms,
  error_code,
}: EvidenceVast['ads'][number]): ReportVideoAd {
  const last = media.at(-1);
  const size = last && last.width > 0 ? `${last.width} × ${last.height}` : '';
  const media_url = clip(last?.url ?? '', URL_MAX);
  return { title: clip(title, TITLE_MAX), shown, media_url, size, declared_ms: duration_ms, played_ms, error_code };
}

function classificationRows(classification: Classification | null): Report['classification'] {
  if (!classification) return [];
  const { brand, ai_category, iab_v3, custom_taxonomies } = classification;
  const rows: [string, string | null][] = [
    ['Brand', brand],
    ['Category', ai_category && tierWords(ai_category)],
    ['IAB Content Taxonomy 3', iab_v3 && tierWords(iab_v3)],
    ...custom_taxonomies.map((one): [string, string] => [clip(one.taxonomy_name, TITLE_MAX), tierWords(one)]),
  ];
  return rows.flatMap(([kind, value]) => (value ? [[kind, clip(value, TITLE_MAX)] as [string, string]] : []));
}

type AnyTiers = { [tier in keyof Tiers]: string | null };
const tierWords = ({ tier1, tier2, tier3, tier4 }: AnyTiers): string =>
  [tier1, tier2, tier3, tier4].filter(Boolean).join(' › ');

function clip(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, max)}… (${text.length - max} more characters)`;
}
