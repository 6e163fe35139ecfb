import { isFinal } from '@adsweep/shared/scan/scan-status.ts';
import { type Assets, type Html, html, pageDocument } from '../../http/pages/html.ts';
import type { Report } from './report.ts';
import { showCompanies } from './show-companies.ts';
import { showCreative, showRequests } from './show-creative.ts';
import { showClassification, showExit, showFacts, showTiming } from './show-facts.ts';
import { showLandings, showMainChain, showPicture, showTabs } from './show-landings.ts';
import { showLimits } from './show-limits.ts';
import { showNeighbours, showPlace } from './show-place.ts';
import { showSweep } from './show-sweep.ts';
import { showChips, showFindings } from './show-tags.ts';
import { showVast, showVideo } from './show-vast.ts';
import { isInProgress, type Verdict, verdictOf } from './verdict.ts';
import { STATUSES, TARGETS } from './words.ts';

/** The interval in seconds at which the page of a scan in progress reloads itself. */
export const RENEW_SECONDS = 5;

const FOOTER =
  'Adsweep loads pages and ads in a real browser, in a country and on a device of choice, and reports what they do. Everyone with the link can read this report; it does not name its owner. URLs in it may be harmful and are not links.';
const PAGE = { heading: 'Scan report', footer: FOOTER };

/**
 * What draws the parts of a report, in their order: the largest reports take some ten milliseconds for each. `renews`:
 * it is sent with a `Refresh` header, which the reader can switch off (WCAG 2.2, 2.2.1).
 */
export function reportParts(report: Report, renews: boolean): (() => Html | null)[] {
  const subject = showCreative(report) ?? showVideo(report);
  return [
    () => showSummary(report, subject, renews),
    () => showVast(report),
    () => (subject ? showLandings(report) : showMainChain(report)),
    () => (subject ? null : showTabs(report)),
    () => html`${showRequests(report)}${showCompanies(report)}`,
  ];
}

/**
 * The public report as an HTML document, with its drawn {@link reportParts}: no scripts, no forms, no links to what was
 * scanned.
 */
export function reportDocument(report: Report, assets: Assets, parts: (Html | null)[]): string {
  const title = `${verdictOf(report).title}: ${subjectWords(report)} - Adsweep`;
  return pageDocument({ ...PAGE, title }, assets, html`${parts}`);
}

/** What was found, and what the page or the ad looks like. */
function showSummary(report: Report, subject: Html | null, renews: boolean): Html {
  const picture = report.sweep?.page ? null : (subject ?? showPicture(report));
  const seen = [picture, showPlace(report), showTiming(report)].filter((part) => part !== null);
  const judged = [showFindings(report), showLimits(report), showClassification(report), showExit(report)].filter(
    (part) => part !== null,
  );
  const verdict = showVerdict(report, verdictOf(report), renews);
  return html`${showNeighbours(report)}${verdict}${showFacts(report)}${showSweep(report)}${showColumns(seen, judged)}`;
}

/** Distinguishes this report from others in the tabs of the reader's browser. */
function subjectWords({ target, place }: Report): string {
  const host = (target.url !== null && URL.parse(target.url)?.host) || TARGETS[target.kind];
  return place ? `ad ${place.ad.number} on ${host}` : host;
}

/** The page for a wrong or outdated link. */
export function missingReportPage(assets: Assets): string {
  const body = html`<section class="verdict cancelled">${SIGNS.cancelled}<div><h1>Report not found</h1>
<p class="summary">The link may be incomplete: ask its sender for the complete link. Or the scan was removed, because scans are kept for a limited time.</p></div></section>`;
  return pageDocument({ ...PAGE, title: 'Report not found - Adsweep' }, assets, body);
}

/** The page for a reader who comes while too many reports are read. */
export function busyReportPage(assets: Assets): string {
  const body = html`<section class="verdict busy">${SIGNS.busy}<div><h1>Many reports are being read</h1>
<p class="summary">This page reloads in a few seconds.</p></div></section>`;
  return pageDocument({ ...PAGE, title: 'Report - Adsweep' }, assets, body);
}

/**
 * The summary at the top. `renews` null: it is a part of a page that has a title of its own, and reloads itself
 * otherwise.
 */
export function showVerdict(report: Report, { tone, title, text }: Verdict, renews: boolean | null = null): Html {
  const { status, error, tags } = report;
  const busy = renews !== null && isInProgress(report) && html`<p class="quiet">${renewalWords(report, renews)}</p>`;
  const heading = renews === null ? html`<h2>${title}</h2>` : html`<h1>${title}</h1>`;
  return html`<section class="verdict ${tone}">${SIGNS[tone]}<div><p class="status">${isFinal(status) && isInProgress(report) ? 'scanning the ads' : STATUSES[status]}</p>${heading}
<p class="summary">${text}</p>${status === 'failed' && html`<p><code>${error}</code></p>`}${showChips(tags)}${busy}</div></section>`;
}

const renewalWords = ({ token }: Report, renews: boolean): Html =>
  renews
    ? html`This page reloads every ${RENEW_SECONDS} seconds. <a href="${token}?renew=no">Stop reloading</a>`
    : html`This page does not reload. <a href="${token}">Reload every ${RENEW_SECONDS} seconds</a>`;

/** Two columns if there is content for both; narrow screens show them below each other. */
function showColumns(left: Html[], right: Html[]): Html | null {
  const columns = [left, right].filter((column) => column.length > 0);
  if (columns.length === 0) return null;
  return html`<div class="columns-${columns.length}">${columns.map((column) => html`<div class="stack">${column}</div>`)}</div>`;
}

const sign = (path: Html): Html =>
  html`<svg class="sign" viewBox="0 0 48 48" aria-hidden="true"><circle cx="24" cy="24" r="22"/>${path}</svg>`;
const exclamation = sign(html`<path d="M24 12v15M24 34.5v.5"/>`);

const SIGNS: Record<Verdict['tone'], Html> = {
  busy: sign(html`<path class="turning" d="M24 10a14 14 0 0 1 14 14"/>`),
  clean: sign(html`<path d="m14 25 7 7 13-15"/>`),
  low: sign(html`<path d="M24 22v13M24 13.5v.5"/>`),
  medium: exclamation,
  high: exclamation,
  failed: sign(html`<path d="m16 16 16 16M32 16 16 32"/>`),
  cancelled: sign(html`<path d="M14 24h20"/>`),
};
