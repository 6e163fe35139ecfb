import { CREATIVE_SCREENSHOT, companionScreenshot } from '@adsweep/shared/capture/artifacts.ts';
import { findEmulator } from '@adsweep/shared/scan/emulators.ts';
import {
  bySeverity,
  classificationRows,
  publicCompanies,
  publicLanding,
  publicMatch,
  removedLimits,
} from '../../../scanning/reports/build-report.ts';
import {
  countRequests,
  INTERACTIVE,
  isInteractive,
  publicRequests,
  publicVast,
  REQUESTS_MAX,
} from '../../../scanning/reports/public-ad.ts';
import { areAdsUnknown, publicAd } from '../../../scanning/reports/public-sweep.ts';
import {
  clip,
  DETAIL_MAX,
  type Report,
  type ReportAd,
  type ReportCreative,
  type ReportTag,
  type Size,
  TITLE_MAX,
  URL_MAX,
} from '../../../scanning/reports/report.ts';
import { countryName } from '../../../scanning/reports/words.ts';
import type { Schemas } from '../../api/schemas.ts';

type Scan = Schemas['Scan'];

/**
 * What the API says of a scan: itself, its tags, the definitions of tags, and of a sweep the scans of its ads with
 * their tags.
 */
export type ScanAnswers = {
  scan: Scan;
  tags: Schemas['ScanTag'][];
  definitions: Schemas['TagDef'][];
  /** `error`: why the scan of an ad failed; otherwise ''. */
  children: { scan: Schemas['ScanBrief']; tags: Schemas['ScanTag'][]; error: string }[];
  /** The size of the picture of a sweep's page in device pixels; null: there is none. */
  picture: { width: number; height: number } | null;
};

/**
 * The report of a scan for its owner, whose parts are those of the public one. Its token is the scan's id: addresses
 * relative to the page of the scan lead to the console's pages and files.
 */
export function reportOfScan({ scan, tags, definitions, children, picture }: ScanAnswers): Report {
  const emulator = findEmulator(scan.emulator_id);
  const viewport = emulator?.device.viewport;
  const ratio = emulator?.device.deviceScaleFactor ?? 1;
  return {
    token: scan.id,
    status: scan.status,
    error: scan.error,
    limits: [
      ...removedLimits(scan.evidence_removed_at === null ? null : new Date(scan.evidence_removed_at)),
      ...scan.left_out.map(({ text }) => ({ text, checks: null })),
    ],
    target: { kind: kindOf(scan), url: scan.url === '' ? null : clip(scan.url, URL_MAX) },
    campaign: scan.campaign_name,
    country: countryName(scan.country_code),
    exit: exitRows(scan),
    device: emulator?.display_name ?? scan.emulator_id,
    is_tall: viewport !== undefined && viewport.height > viewport.width,
    created_at: new Date(scan.created_at),
    retries: scan.retry_attempt,
    tags: tags.map((tag) => reportTag(tag, definitions)).sort(bySeverity),
    landings: scan.landings.map((landing) => publicLanding({ ...landing, screenshot: landing.screenshot_url || null })),
    vast: scan.vast && publicVast({ ...scan.vast, video: scan.video }, artifactsOf(scan), ''),
    creative: creativeOf(scan, tags, definitions),
    sweep: sweepOf({ scan, children }, picture && { width: picture.width / ratio, height: picture.height / ratio }),
    place: null,
    companies: publicCompanies(seenOf(scan), ''),
    classification: classificationRows(scan.classification),
    timing: scan.timing,
  };
}

const kindOf = (scan: Scan): Report['target']['kind'] =>
  scan.ad_kind ?? (scan.ad_tag !== null ? 'ad_tag' : scan.vast_tag !== null ? 'vast_tag' : 'url');

function exitRows({ proxy, exit, country_code }: Scan): Report['exit'] {
  if (!exit) return [];
  const unknown = exit.verified === false ? 'not verified' : 'not checked';
  const rows: [string, string | null | undefined, string | null][] = [
    [
      'Country',
      countryName(country_code),
      exit.observed_country_code ? countryName(exit.observed_country_code) : unknown,
    ],
    ['Proxy type', proxy?.proxy_type ?? 'residential', exit.proxy_type],
    ['Region', proxy?.region ?? '', exit.region],
    ['City', proxy?.city ?? '', exit.city],
    ['ISP', proxy?.isp ?? '', exit.isp],
    ['Address', null, exit.ip],
    ['Network (ASN)', null, exit.asn],
    ['Provider', null, exit.provider],
    ['Exit', null, exit.exit_id],
    ['Attempts', null, String(exit.attempts)],
  ];
  // Null: a request cannot contain it, as an address or a provider. Empty: it was not asked for, and any value is
  // right.
  const words = (text: string | null | undefined) => (text === null ? '' : text ? clip(text, TITLE_MAX) : 'any');
  return rows
    .filter(([, requested, actual]) => requested || actual)
    .map(([property, requested, actual]) => [
      property,
      words(requested),
      actual ? clip(actual, TITLE_MAX) : 'not known',
    ]);
}

function reportTag(tag: Schemas['ScanTag'], definitions: Schemas['TagDef'][]): ReportTag {
  const { tag_slug: slug, display_name: name, category, severity, detail, url } = tag;
  const description = definitions.find((one) => one.slug === slug)?.description ?? '';
  const match = publicMatch(tag.match ? { match: tag.match } : {});
  return {
    slug,
    name,
    category,
    severity,
    description,
    detail: match ? '' : clip(detail, DETAIL_MAX),
    url: clip(url, URL_MAX),
    match,
  };
}

/** The pictures of a creative that the API says are there. */
function artifactsOf({ creative_screenshot_url, vast }: Scan): Map<string, Size> {
  const names = [
    ...(creative_screenshot_url === '' ? [] : [CREATIVE_SCREENSHOT]),
    ...(vast?.companions ?? []).map(({ place }) => companionScreenshot(place)),
  ];
  return new Map(names.map((name) => [name, { width: 0, height: 0 }]));
}

function creativeOf(scan: Scan, tags: Schemas['ScanTag'][], definitions: Schemas['TagDef'][]): ReportCreative | null {
  const kind = kindOf(scan);
  if (kind === 'url' || kind === 'vast_tag' || kind === 'pop' || scan.landings.length + scan.creative_width === 0)
    return null;
  const budget = { left: REQUESTS_MAX };
  const requests = scan.creative_redirect_chain.map(({ url, status_code, sub_requests }) => ({
    url: clip(url, URL_MAX),
    type: 'document',
    status_code,
    requests: publicRequests(sub_requests, budget, 1),
  }));
  const all = scan.creative_redirect_chain.reduce((sum, { sub_requests }) => sum + countRequests(sub_requests), 0);
  return {
    width: scan.creative_width,
    height: scan.creative_height,
    picture: scan.creative_screenshot_url !== '',
    interactive: definitions.some(({ slug }) => slug === INTERACTIVE)
      ? isInteractive(kind, { status: scan.status, tags })
      : null,
    requests,
    left_out: all - (REQUESTS_MAX - budget.left),
  };
}

function sweepOf({ scan, children }: Pick<ScanAnswers, 'scan' | 'children'>, page: Size | null): Report['sweep'] {
  const { ad_blocks, status, evidence_removed_at } = scan;
  if (!ad_blocks || (ad_blocks.length === 0 && areAdsUnknown(status, evidence_removed_at !== null))) return null;
  const ads = ad_blocks.map((block) => adOf(block, children));
  return { ads: ads.toSorted((one, other) => one.number - other.number), page };
}

function adOf(block: Schemas['AdBlock'], children: ScanAnswers['children']): ReportAd {
  const { scan_id, not_scanned } = block;
  const child = children.find(({ scan }) => scan.id === scan_id);
  return {
    ...publicAd(block),
    not_scanned: child ? null : (not_scanned ?? 'removed'),
    scan: child ? adScanOf(child) : null,
  };
}

function adScanOf({ scan, tags, error }: ScanAnswers['children'][number]): NonNullable<ReportAd['scan']> {
  const named = new Map(
    tags.map((tag) => [tag.tag_slug, { slug: tag.tag_slug, name: tag.display_name, severity: tag.severity }]),
  );
  const picture = scan.ad_kind === 'pop' ? 'landings/0/screenshot' : 'creative-screenshot';
  return {
    token: scan.id,
    status: scan.status,
    error,
    tags: [...named.values()],
    landing_url: clip(scan.offer_url, URL_MAX),
    picture: scan.screenshot_url === '' ? null : picture,
  };
}

/** What requests there were, in the form in which reports read it. */
const seenOf = (scan: Scan): Parameters<typeof publicCompanies>[0] =>
  ({
    creative: { redirect_chain: scan.creative_redirect_chain, requests: [] },
    landings: scan.landings.map((landing) => ({ ...landing, screenshot: null })),
    vast: scan.vast && { ...scan.vast, video: scan.video },
  }) as unknown as Parameters<typeof publicCompanies>[0];
