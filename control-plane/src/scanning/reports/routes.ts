import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { SCREENSHOT_WIDTH_MAX, SCREENSHOT_WIDTH_MIN } from '@adsweep/shared/limits.ts';
import { awaitTurn } from '@adsweep/shared/service/time-slice.ts';
import { type Static, type TProperties, Type } from 'typebox';
import { notFound } from '../../http/api-error.ts';
import type { Caller } from '../../http/caller.ts';
import { conditional } from '../../http/conditional-get.ts';
import { type Html, PAGE_ICON, PAGE_STYLESHEET } from '../../http/pages/html.ts';
import { type Answer, type Route, route } from '../../http/route.ts';
import { BoundedQueue, QueueFull } from '../../platform/bounded-queue.ts';
import { PerOwnerLimit } from '../../platform/per-owner-limit.ts';
import type { DiscoveredScan, JobRef, ScanRecord } from '../../scan/scan.ts';
import type { PictureOf } from '../artifacts/artifact.ts';
import type { WantedSize } from '../artifacts/resize-screenshot.ts';
import { picturesBusy, wantedSize } from '../artifacts/routes.ts';
import { buildReport } from './build-report.ts';
import { type Home, homePage } from './home-page.ts';
import type { Relatives } from './public-sweep.ts';
import type { SeenEvidence, TagWords } from './report.ts';
import { busyReportPage, missingReportPage, RENEW_SECONDS, reportDocument, reportParts } from './report-page.ts';
import { REPORT_STYLESHEET } from './report-stylesheet.ts';
import { isInProgress } from './verdict.ts';

/** What reports need from other modules. */
export type ReportSources = {
  /** The base URL of the API. */
  publicUrl: string;
  findByReportToken(token: string): Promise<ScanRecord | null>;
  /** The organization of that scan. */
  ownerOfReport(token: string): Promise<string | null>;
  find(organizationId: string, scanId: string): Promise<ScanRecord | null>;
  /** The scans of the ads that this scan of the job found. */
  discoveredBy(job: JobRef, scanId: string): Promise<DiscoveredScan[]>;
  /** What the home page says of this deployment. */
  readHome(): Promise<Home>;
  /** The evidence in the scan's capture; empty before there is one. */
  evidenceOf(scan: ScanRecord): Promise<SeenEvidence>;
  /**
   * The picture of a scan for a message, as a JPEG; null: there is none. Throws `QueueFull` while too many pictures are
   * being resized.
   */
  pictureForMessage(scan: ScanRecord): Promise<Buffer | null>;
  /** A WebP picture in this size; throws 404 if there is none. */
  answerPicture(scan: ScanRecord, of: PictureOf, size: WantedSize, request: IncomingMessage): Promise<Answer>;
  /** The name of the scan's campaign as it is now; null: it has none. */
  campaignNameOf(scan: ScanRecord): Promise<string | null>;
  /** The definitions of the tags of this scan; null for an archived or unknown one. */
  tagWordsFor(scan: ScanRecord): Promise<(slug: string) => TagWords | null>;
};

/** A report must not run scripts, be framed, submit forms or load anything from another origin. */
const PAGE_HEADERS = {
  'Content-Security-Policy':
    "default-src 'none'; img-src 'self'; style-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
  'X-Robots-Tag': 'noindex, nofollow',
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cache-Control': 'private, no-cache',
};
const ASSET_HEADERS = { 'Cache-Control': 'public, max-age=604800, immutable' };

const STYLESHEET = PAGE_STYLESHEET + REPORT_STYLESHEET;
const version = (text: string): string => createHash('sha256').update(text).digest('base64url').slice(0, 12);
/** Relative to the page, so that the service can be served below any path of its host. */
const ASSETS = {
  stylesheet: `assets/report.css?v=${version(STYLESHEET)}`,
  icon: `assets/icon.svg?v=${version(PAGE_ICON)}`,
};

const ASSETS_FROM_ROOT = { stylesheet: `r/${ASSETS.stylesheet}`, icon: `r/${ASSETS.icon}` };

/**
 * Reports that are made at once, each of which holds its capture in memory, and that may wait, in all and of one
 * organization: a second or two of work of each.
 */
const QUEUE = { running: 2, waiting: 160, waitingEach: 40 };
const BUSY_SECONDS = 3;
/** Pictures of an organization's reports that are answered at once, each of which holds its scan in memory. */
const PICTURES_AT_ONCE = 16;

const WIDTH_STEP = 100;
const Token = Type.String({ description: "The scan's report token." });
/** Mail and chat programs append parameters to links; they are ignored. */
const appended = { additionalProperties: true, maxProperties: 100 };
const AnyQuery = Type.Object({}, appended);
const Renewal = Type.Object(
  {
    renew: Type.Optional(
      Type.String({ description: '`no`: the page of a scan in progress does not reload itself.', maxLength: 100 }),
    ),
  },
  appended,
);
const Width = Type.Object(
  {
    w: Type.Optional(
      Type.Integer({
        minimum: SCREENSHOT_WIDTH_MIN,
        maximum: SCREENSHOT_WIDTH_MAX,
        description: 'Width in pixels, rounded up to a multiple of 100. A picture is never enlarged.',
      }),
    ),
  },
  appended,
);
const PageSize = Type.Object(
  {
    ...Width.properties,
    whole: Type.Optional(
      Type.String({ description: '`yes`: the whole page, however tall it is; otherwise its top.', maxLength: 100 }),
    ),
  },
  appended,
);
const pictureReplies = {
  200: { description: 'The picture.', content: 'image/webp' },
  304: { description: 'Not modified: the client has the current picture.' },
};

/**
 * The home page, the public report of a scan, its pictures, and the assets of the pages (spec 1, 5). The token alone
 * gives access.
 */
export function reportRoutes(sources: ReportSources): Route<Caller>[] {
  const shared = { method: 'GET', group: 'Reports', permission: 'none' } as const;
  const queue = new BoundedQueue(QUEUE);
  const answerPicture = pictureAnswerer(sources, new PerOwnerLimit(PICTURES_AT_ONCE));
  const picture = (
    token: string,
    of: PictureOf,
    { w }: Static<typeof Width>,
    { stream, isWhole = false }: { stream: IncomingMessage; isWhole?: boolean },
  ): Promise<Answer> =>
    answerPicture(token, async (scan) => {
      if (!scan) throw notFound('report');
      const size = wantedSize(w && inSteps(w), of);
      return sources.answerPicture(scan, of, isWhole ? { ...size, isWhole } : size, stream);
    });
  const pictureRoute = (
    path: string,
    summary: string,
    of: (params: Record<string, string>) => PictureOf,
    params: TProperties = {},
  ) =>
    route({
      ...shared,
      path: `/r/{token}/${path}`,
      summary: `${summary}, as the public report shows it`,
      params: Type.Object({ token: Token, ...params }),
      query: Width,
      replies: pictureReplies,
      errors: ['not_found', 'unavailable'],
      handle: ({ params: { token, ...named }, query, stream }) =>
        picture(token as string, of(named as Record<string, string>), query, { stream }),
    });
  return [
    route({
      ...shared,
      path: '/',
      summary: 'Home page',
      query: AnyQuery,
      replies: { 200: { description: 'An HTML page.', content: 'text/html' } },
      handle: async () => page(200, homePage(await sources.readHome(), ASSETS_FROM_ROOT)),
    }),
    route({
      ...shared,
      path: '/r/{token}',
      summary: 'Public report of a scan',
      params: Type.Object({ token: Token }),
      query: Renewal,
      replies: {
        200: { description: 'The report.', content: 'text/html' },
        404: { description: 'No such report.' },
        503: { description: 'Too many reports are being read; the page reloads itself.' },
      },
      handle: async ({ params, query, headers }) => {
        const missing = page(404, missingReportPage(ASSETS));
        const owner = isToken(params.token) ? await sources.ownerOfReport(params.token) : null;
        if (owner === null) return missing;
        const answer = async () => {
          const scan = await findScan(sources, params.token);
          return scan ? answerPage(sources, scan, query.renew !== 'no', headers) : missing;
        };
        try {
          return await queue.run(answer, { owner });
        } catch (error) {
          if (error instanceof QueueFull) return busyPage();
          throw error;
        }
      },
    }),
    route({
      ...shared,
      path: '/r/{token}/screenshot',
      summary: 'Screenshot of the page, as the public report shows it',
      params: Type.Object({ token: Token }),
      query: PageSize,
      replies: pictureReplies,
      errors: ['not_found', 'unavailable'],
      handle: ({ params, query, stream }) =>
        picture(params.token, 'page', query, { stream, isWhole: query.whole === 'yes' }),
    }),
    route({
      ...shared,
      path: '/r/{token}/picture.jpg',
      summary: 'Picture of the scan for messages',
      params: Type.Object({ token: Token }),
      query: AnyQuery,
      replies: { 200: { description: 'The picture.', content: 'image/jpeg' } },
      errors: ['not_found', 'unavailable'],
      handle: ({ params }) =>
        answerPicture(params.token, async (scan) => {
          const body = scan && (await sources.pictureForMessage(scan));
          if (!body) throw notFound('picture');
          return { status: 200, body, type: 'image/jpeg', headers: { 'Cache-Control': 'private, max-age=3600' } };
        }),
    }),
    pictureRoute('creative-screenshot', 'Screenshot of the creative', () => 'creative'),
    pictureRoute('landings/{ord}/screenshot', 'Screenshot of one landing', ({ ord }) => Number(ord), {
      ord: Type.String({ pattern: '^[0-9]{1,15}$' }),
    }),
    pictureRoute(
      'companions/{place}/screenshot',
      'Screenshot of a companion of a video ad',
      ({ place }) => `companion ${Number(place)}`,
      { place: Type.String({ pattern: '^[0-9]{1,2}$' }) },
    ),
    asset('report.css', 'text/css; charset=utf-8', STYLESHEET),
    asset('icon.svg', 'image/svg+xml', PAGE_ICON),
  ];
}

async function answerPage(
  sources: ReportSources,
  scan: ScanRecord,
  mayRenew: boolean,
  headers: IncomingHttpHeaders,
): Promise<Answer> {
  const [evidence, tagWords, relatives, campaign] = await Promise.all([
    sources.evidenceOf(scan),
    sources.tagWordsFor(scan),
    findRelatives(sources, scan),
    sources.campaignNameOf(scan),
  ]);
  // Parsing a large capture has just held the event loop, and each part of its report does so again.
  await awaitTurn();
  const report = buildReport(scan, evidence, tagWords, relatives, campaign);
  const renews = mayRenew && isInProgress(report);
  const parts: (Html | null)[] = [];
  for (const draw of reportParts(report, renews)) {
    await awaitTurn();
    parts.push(draw());
  }
  const html = reportDocument(report, ASSETS, parts);
  const renewal: Record<string, string> = renews ? { Refresh: String(RENEW_SECONDS) } : {};
  return conditional(headers, `"${version(html)}"`, page(200, html, renewal));
}

/** The other scans of the sweep that a scan belongs to, all of one organization; none if it belongs to none. */
async function findRelatives(
  sources: ReportSources,
  { _id, organization_id, job_id, discovery, ad_block, parent_scan_id }: ScanRecord,
): Promise<Relatives> {
  const sweepId = discovery ? _id : ad_block ? parent_scan_id : null;
  if (sweepId === null) return { ads: [], sweep: null };
  const [ads, sweep] = await Promise.all([
    sources.discoveredBy({ organizationId: organization_id, jobId: job_id }, sweepId),
    discovery ? null : sources.find(organization_id, sweepId),
  ]);
  return { ads, sweep: sweep && { scan: sweep, evidence: await sources.evidenceOf(sweep) } };
}

function busyPage(): Answer {
  const again = { 'Retry-After': String(BUSY_SECONDS), Refresh: String(BUSY_SECONDS) };
  return page(503, busyReportPage(ASSETS), again);
}

const page = (status: number, body: string, further: Record<string, string> = {}): Answer => ({
  status,
  body,
  type: 'text/html; charset=utf-8',
  headers: { ...PAGE_HEADERS, ...further },
});

/**
 * Answers a request for a picture of a report: finds its scan, null if there is none, once few enough of its
 * organization's are answered.
 */
const pictureAnswerer =
  (sources: ReportSources, limit: PerOwnerLimit) =>
  async (token: string, answer: (scan: ScanRecord | null) => Promise<Answer>): Promise<Answer> => {
    const owner = isToken(token) ? await sources.ownerOfReport(token) : null;
    if (owner === null) return answer(null);
    try {
      const given = await limit.run(owner, async () => answer(await findScan(sources, token)));
      return { ...given, headers: { ...given.headers, 'X-Robots-Tag': 'noindex' } };
    } catch (error) {
      throw error instanceof QueueFull ? picturesBusy(error) : error;
    }
  };

/** Rounds up to a multiple of 100: only twelve widths of a picture can be requested, instead of a thousand. */
const inSteps = (width: number): number => Math.ceil(width / WIDTH_STEP) * WIDTH_STEP;

/** Tokens have 22 characters; anything much longer is not looked up. */
const isToken = (token: string): boolean => /^[A-Za-z0-9_-]{16,64}$/.test(token);

/** Finds the scan with this token. */
async function findScan(sources: ReportSources, token: string): Promise<ScanRecord | null> {
  return isToken(token) ? sources.findByReportToken(token) : null;
}

function asset(name: string, type: string, text: string): Route<Caller> {
  return route({
    method: 'GET',
    group: 'Reports',
    permission: 'none',
    path: `/r/assets/${name}`,
    summary: `The report page's ${name}`,
    query: AnyQuery,
    replies: { 200: { description: 'The file.', content: type.split(';')[0]! } },
    handle: () => ({ status: 200, body: text, type, headers: ASSET_HEADERS }),
  });
}
