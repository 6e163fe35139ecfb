import type { CapturedHop, SubRequest } from '@adsweep/shared/capture/hop.ts';
import { type Note, noteSentence, noteWords } from '@adsweep/shared/capture/notes.ts';
import { scannedKind } from '@adsweep/shared/capture/scanned-kind.ts';
import { findEmulator } from '@adsweep/shared/scan/emulators.ts';
import { SEVERITIES } from '../../reference/tags/system-tag.ts';
import { matchWords } from '../../scan/place-words.ts';
import { type Classification, evidenceRemovedAt, type ScanRecord, type ScanTag, type Tiers } from '../../scan/scan.ts';
import { timingOf } from '../scans/api/timing.ts';
import { publicCreative, publicVast } from './public-ad.ts';
import { publicPlace, publicSweep, type Relatives } from './public-sweep.ts';
import {
  clip,
  DETAIL_MAX,
  type Report,
  type ReportCompany,
  type ReportHop,
  type ReportLanding,
  type ReportLimit,
  type ReportMatch,
  type ReportTag,
  type SeenEvidence,
  type SeenLanding,
  type TagWords,
  TITLE_MAX,
  TYPE_MAX,
  URL_MAX,
} from './report.ts';
import { requestsByCompany } from './requests-by-company.ts';
import { countryName, timeWords } from './words.ts';

/**
 * Builds the public view of a scan (spec 1, 2.5). It names every field it takes, so that a new field of the record
 * stays private. `evidence`: that of the scan's capture; `tagWords` returns null for archived tags; `relatives`: the
 * other scans of its sweep; `campaign`: the name of its campaign.
 */
export function buildReport(
  scan: ScanRecord,
  evidence: SeenEvidence,
  tagWords: (slug: string) => TagWords | null,
  relatives: Relatives = NO_RELATIVES,
  campaign: string | null = null,
): Report {
  const emulator = findEmulator(scan.emulator_id);
  const privateUrl = publisherUrl(scan, evidence);
  return {
    token: scan.report_token,
    status: scan.status,
    ...limitsOf(scan.error, evidence.notes, evidenceRemovedAt(scan)),
    target: { kind: scannedKind(scan), url: scan.target.kind === 'url' ? clip(scan.target.value, URL_MAX) : null },
    campaign,
    country: countryName(scan.country_code),
    exit: exitRows(scan),
    device: emulator?.display_name ?? scan.emulator_id,
    is_tall: emulator !== null && emulator.device.viewport.height > emulator.device.viewport.width,
    created_at: scan.created_at,
    retries: scan.retry_attempt,
    tags: publicTags(scan.tags, tagWords, privateUrl),
    landings: evidence.landings.map(publicLanding).sort((one, other) => one.ord - other.ord),
    vast: evidence.vast && publicVast(evidence.vast, evidence.artifacts, privateUrl),
    creative: publicCreative(scan, evidence, tagWords),
    sweep: publicSweep(scan, evidence, relatives.ads, tagWords),
    place: publicPlace(scan, relatives),
    companies: publicCompanies(evidence, privateUrl),
    classification: classificationRows(scan.classification),
    timing: timingOf(scan),
  };
}

const NO_RELATIVES: Relatives = { ads: [], sweep: null };

/** What is missing of a scan whose capture was removed, so that a reader does not look for it. */
export const removedLimits = (at: Date | null): ReportLimit[] =>
  at === null
    ? []
    : [
        {
          text: `The pictures, redirect chains and requests were removed on ${timeWords(at)}. The findings are kept.`,
          checks: null,
        },
      ];

/**
 * Splits the error of a scan into what the notes of its capture explain, `<words of a note>: <names of checks>`, and
 * the rest. What matters to checks comes first. `removedAt`: when the capture was removed, with its notes.
 */
function limitsOf(error: string, notes: readonly Note[], removedAt: Date | null): Pick<Report, 'error' | 'limits'> {
  const parts = error.startsWith(CHECKS) ? error.slice(CHECKS.length).split(', ') : [];
  const explained = notes.map((note) => {
    const start = `${noteWords(note)}: `;
    return { note, part: parts.find((part) => part.startsWith(start)) ?? null, start };
  });
  const known = new Set(explained.map(({ part }) => part));
  const limits = explained.map(({ note, part, start }): ReportLimit => {
    const names = part?.slice(start.length).replace(SCREENSHOT, '').split(' ').join(', ') ?? null;
    return { text: noteSentence(note), checks: names?.replace(/, (\d+), more$/, ' and $1 more') ?? null };
  });
  const rest = parts.filter((part) => !known.has(part));
  return {
    error: parts.length === 0 ? error : rest.length === 0 ? '' : `${CHECKS}${rest.join(', ')}`,
    limits: [
      ...removedLimits(removedAt),
      ...limits.toSorted((one, other) => Number(one.checks === null) - Number(other.checks === null)),
    ],
  };
}

const CHECKS = 'checks: ';
/** The screenshot is no check in the eyes of a reader. */
const SCREENSHOT = /^screenshot ?/;

/**
 * The URL of the publisher page of a tag, which is private to the client; '': there is none, or nothing was loaded. A
 * VAST document that the client sent as text is listed with the URL of that page.
 */
function publisherUrl({ target, ad_block }: ScanRecord, { creative, vast }: SeenEvidence): string {
  if (ad_block) return '';
  if (creative) return creative.page_url;
  const isText = target.kind === 'vast_tag' && !/^\s*https?:/i.test(target.value);
  return (isText && vast?.wrappers[0]?.url) || '';
}

function exitRows({ country_code, proxy, exit }: ScanRecord): Report['exit'] {
  if (!exit) return [];
  const actual = exit.observed_country_code;
  const unknown = exit.verified === false ? 'not verified' : 'not checked';
  return [
    ['Country', countryName(country_code), actual ? countryName(actual) : unknown],
    ['Proxy type', proxy?.proxy_type ?? 'residential', exit.proxy_type],
  ];
}

/** The public tags of a scan, most severe first. `privateUrl` is left out of them. */
function publicTags(
  tags: readonly ScanTag[],
  tagWords: (slug: string) => TagWords | null,
  privateUrl: string,
): ReportTag[] {
  return tags.flatMap((tag) => publicTag(tag, tagWords(tag.tag_slug), privateUrl)).sort(bySeverity);
}

function publicTag(tag: ScanTag, words: TagWords | null, privateUrl: string): ReportTag[] {
  if (words?.visibility !== 'public') return [];
  const { display_name: name, category, severity, description } = words;
  const detail = tag.match ? '' : clip(withoutPage(tag.detail, privateUrl), DETAIL_MAX);
  const isPrivate = privateUrl !== '' && tag.url === privateUrl;
  const url = isPrivate ? '' : clip(tag.url, URL_MAX);
  const match = publicMatch(tag, isPrivate);
  return [{ slug: tag.tag_slug, name, category, severity, description, detail, url, match }];
}

/** A text without the URLs of the private publisher page and its site. */
function withoutPage(text: string, privateUrl: string): string {
  const origin = URL.parse(privateUrl)?.origin ?? 'null';
  if (origin === 'null') return text;
  const [before = '', ...parts] = text.split(origin);
  return before + parts.map((part) => part.replace(/^\S*/, 'the page')).join('');
}

/**
 * Splits the excerpt at « and », which enclose the hit. The page itself may contain these characters: the first ones
 * count. `isPrivate`: the match is in the private publisher page. Its excerpt, which for a hit in a URL is that of the
 * page, is left out.
 */
export function publicMatch({ match }: Pick<ScanTag, 'match'>, isPrivate = false): ReportMatch | null {
  if (!match) return null;
  const excerpt = isPrivate ? '' : match.excerpt;
  const [, before = excerpt, hit = '', after = ''] = /^([^«]*)«([^»]*)»(.*)$/su.exec(excerpt) ?? [];
  const rule = clip(match.rule_name ?? '', TITLE_MAX);
  return { rule, where: matchWords(match), before, hit, after };
}

export const bySeverity = (one: ReportTag, other: ReportTag): number =>
  SEVERITIES.indexOf(one.severity) - SEVERITIES.indexOf(other.severity);

/** A landing of a report, of what was captured of it. */
export function publicLanding({ ord, final_url, page_title, redirect_chain, screenshot }: SeenLanding): ReportLanding {
  return {
    ord,
    title: clip(page_title, TITLE_MAX),
    url: clip(final_url, URL_MAX),
    chain: redirect_chain.map(publicHop),
    picture: screenshot !== null,
  };
}

function publicHop({ url, kind, status_code, content_type, timestamp_ms }: CapturedHop): ReportHop {
  const type = content_type.split(';')[0]!.trim();
  return { url: clip(url, URL_MAX), kind, status_code, content_type: clip(type, TYPE_MAX), at_ms: timestamp_ms };
}

/**
 * The requests by company, without those to the private publisher page. The requests of a video ad itself are its
 * trackers.
 */
export function publicCompanies(
  { creative, landings, vast }: Pick<SeenEvidence, 'creative' | 'landings' | 'vast'>,
  privateUrl: string,
): Report['companies'] {
  const trackers = (vast?.trackers ?? []).flatMap(({ requested_url, requested_at_ms }) =>
    requested_at_ms === null ? [] : [{ url: requested_url, type: 'ping', body_size: 0, timestamp_ms: requested_at_ms }],
  );
  const hops = [...(creative?.redirect_chain ?? []), ...landings.flatMap(({ redirect_chain }) => redirect_chain)];
  const ofCreative = (creative?.requests ?? []).map(asLoaded);
  const documents = [...trackers, ...hops, ...ofCreative];
  const found = requestsByCompany(documents, URL.parse(privateUrl)?.host ?? '');
  const clipped = (company: ReportCompany) => ({
    ...company,
    name: clip(company.name, TITLE_MAX),
    domains: company.domains.map((domain) => clip(domain, TITLE_MAX)),
  });
  return found && { ...found, companies: found.companies.map(clipped) };
}

const asLoaded = ({ url, resource_type: type, body_size, timestamp_ms, children }: SubRequest) => ({
  url,
  type,
  body_size,
  timestamp_ms,
  sub_requests: children,
});

/** Kinds of classification with their values. */
export function classificationRows(classification: Classification | null): Report['classification'] {
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
