import { type Html, html } from '../../http/pages/html.ts';
import { ByteBudget, showLeftOut } from './byte-budget.ts';
import type { Report, ReportTracker, ReportVast, ReportVideoAd, ReportWrapper } from './report.ts';
import { showStatus } from './show-landings.ts';
import { showUrl } from './show-url.ts';
import { durationWords, SHOWN, VAST_ERRORS, VAST_OUTCOMES } from './words.ts';

/** Further trackers are collapsed. */
const SHOWN_MAX = 40;
const PICTURE_WIDTH = 800;
/** Characters of a tracker's URL that are shown: there are many trackers. */
const URL_MAX = 90;
/** The bytes for the ads, the documents and the trackers. */
const ADS_BYTES = 40_000;
const WRAPPERS_BYTES = 60_000;
const TRACKERS_BYTES = 120_000;

/** Shows a video ad tag: its companions, its wrapper chain, and each tracker, declared and fired. */
export function showVast({ token, vast }: Report): Html | null {
  if (!vast) return null;
  return html`${showCompanions(token, vast)}${showWrappers(vast)}${showTrackers(vast)}`;
}

/** The video: a frame of it, and its ads. */
export function showVideo({ token, vast }: Report): Html | null {
  if (!vast || vast.ads.length === 0) return null;
  const { picture, ads, ads_left_out, version, ad_system } = vast;
  const budget = new ByteBudget(ADS_BYTES);
  const shown = budget.list(ads, (ad, at) => showAd(ad, ads.length > 1 && `ad ${at + 1}`));
  const facts = [version && `VAST ${version}`, ad_system].filter(Boolean).join(', ');
  const frame = picture
    ? html`<a class="frame" href="${token}/creative-screenshot"><img src="${token}/creative-screenshot?w=${PICTURE_WIDTH}" alt="A frame of the video"></a>`
    : html`<p class="no-shot">There is no screenshot</p>`;
  return html`<section class="card" id="video"><h2>Video <span class="count"><bdi>${facts}</bdi></span></h2>${frame}${shown}${showLeftOut(budget.leftOut, 'more are')}${showMore(ads_left_out)}</section>`;
}

function showAd(ad: ReportVideoAd, name: string | false): Html {
  const { title, shown, media_url, size, declared_ms, played_ms, error_code } = ad;
  const times = [
    declared_ms === null ? null : `declared ${durationWords(declared_ms)}`,
    played_ms > 0 ? `played ${durationWords(played_ms)}` : null,
    size || null,
  ].filter((word) => word !== null);
  const error = error_code !== null && html`<span class="code bad">${errorWords(error_code)}</span>`;
  return html`<article class="ad"><h3 class="clamped"><bdi>${title || 'Untitled ad'}</bdi></h3>
<p class="meta">${name && html`<span>${name}</span>`}<span>${SHOWN[shown]}</span>${times.map((time) => html`<span>${time}</span>`)}${error}</p>${media_url && html`<div class="where">${showUrl(media_url)}</div>`}</article>`;
}

/** `error 401: the video file was not found`. */
const errorWords = (code: number): string => [`error ${code}`, VAST_ERRORS[code]].filter(Boolean).join(': ');

function showCompanions(token: string, { companions }: ReportVast): Html | null {
  if (companions.length === 0) return null;
  const shown = companions.map((at) => {
    const path = `${token}/companions/${at}/screenshot`;
    return html`<a class="creative-shot" href="${path}"><img src="${path}?w=${PICTURE_WIDTH}" alt="Companion ${at + 1}" loading="lazy"></a>`;
  });
  return html`<section class="card" id="companions"><h2>Companions <span class="count">${companions.length}</span></h2><div class="companions">${shown}</div></section>`;
}

const showMore = (leftOut: number): Html | false =>
  leftOut > 0 && html`<p class="quiet">and ${leftOut} more that are not listed</p>`;

/** The documents in order, each indented one level deeper than its wrapper. */
function showWrappers({ wrappers, wrappers_left_out }: ReportVast): Html | null {
  if (wrappers.length === 0) return null;
  const budget = new ByteBudget(WRAPPERS_BYTES);
  const shown = budget.list(wrappers, showWrapper);
  const count = wrappers.length === 1 ? 'no wrapper' : `${wrappers.length} documents`;
  return html`<section class="card" id="wrappers"><h2>Wrappers <span class="count">${count}</span></h2><ol class="wrapper-chain">${shown}</ol>${showLeftOut(budget.leftOut, 'more are')}${showMore(wrappers_left_out)}</section>`;
}

function showWrapper(
  { depth, outcome, url, version, ad_system, status_code, elapsed_ms }: ReportWrapper,
  index: number,
): Html {
  const words = [ad_system, version && `VAST ${version}`, elapsed_ms > 0 && durationWords(elapsed_ms)].filter(Boolean);
  const code = status_code > 0 && showStatus(status_code);
  const address = url === '' ? html`<bdi class="url">the document in the request</bdi>` : showUrl(url);
  return html`<li class="wrapper depth-${Math.min(depth, 5)}"><span class="number">${index + 1}</span><div class="step">${address}
<p class="meta">${code}<span class="code ${outcome === 'ads' ? 'good' : 'bad'}">${VAST_OUTCOMES[outcome]}</span>${words.map((word) => html`<span><bdi>${word}</bdi></span>`)}</p></div></li>`;
}

/**
 * All declared trackers in the order in which they fired; those that were not requested are last. With several ads,
 * each tracker names its ad.
 */
function showTrackers({ ads, trackers: declared, trackers_left_out }: ReportVast): Html | null {
  if (declared.length === 0) return null;
  const trackers = ads.length > 1 ? declared : declared.map((tracker) => ({ ...tracker, ad: null }));
  const fired = trackers.filter(({ at_ms }) => at_ms !== null).sort((a, b) => Number(a.at_ms) - Number(b.at_ms));
  const idle = trackers.filter(({ at_ms }) => at_ms === null);
  const failed = fired.filter(isFailed).length;
  const from = fired[0]?.at_ms ?? 0;
  const span = Math.max(1, (fired.at(-1)?.at_ms ?? 0) - from);
  const budget = new ByteBudget(TRACKERS_BYTES);
  const rows = budget.list(fired, (tracker) => showFired(tracker, (100 * (Number(tracker.at_ms) - from)) / span));
  const idleRows = budget.list(idle, showIdle);
  const rest = rows.slice(SHOWN_MAX);
  const folded =
    rest.length > 0 &&
    html`<details class="rest"><summary>${rest.length} more</summary><ol class="trackers">${rest}</ol></details>`;
  const unused =
    idle.length > 0 &&
    html`<details class="rest"><summary>${idle.length} ${idle.length === 1 ? 'was' : 'were'} not requested</summary><ol class="trackers">${idleRows}</ol></details>`;
  return html`<section class="card" id="trackers"><h2>Trackers <span class="count">${fired.length} of ${trackers.length} fired${failed > 0 && `, ${failed} failed`}</span></h2><ol class="trackers">${rows.slice(0, SHOWN_MAX)}</ol>${folded}${unused}${showLeftOut(budget.leftOut, 'more are')}${showMore(trackers_left_out)}</section>`;
}

const isFailed = ({ status_code }: ReportTracker): boolean => status_code === 0 || status_code >= 400;

function showFired(tracker: ReportTracker, at: number): Html {
  const { event, offset, url, at_ms, playhead_ms, status_code } = tracker;
  const playhead = playhead_ms !== null && html`<span>video at ${durationWords(playhead_ms)}</span>`;
  return html`<li class="${isFailed(tracker) ? 'lost' : 'fired'}"><b>${eventWords(event, offset)}</b><svg class="moment" width="100%" height="10" aria-hidden="true"><rect class="line" y="4" width="100%" height="2"/><circle cx="${(2 + at * 0.96).toFixed(2)}%" cy="5" r="5"/></svg>
<p class="meta">${showStatus(status_code)}<span>at ${durationWords(Number(at_ms))}</span>${playhead}${showOrigin(tracker)}</p><div class="where">${showUrl(url, URL_MAX)}</div></li>`;
}

function showIdle(tracker: ReportTracker): Html {
  const { event, offset, url } = tracker;
  return html`<li class="idle"><b>${eventWords(event, offset)}</b><p class="meta">${showOrigin(tracker)}</p><div class="where">${showUrl(url, URL_MAX)}</div></li>`;
}

/** The numbers of a tracker's ad and of the document that declares it. */
const showOrigin = ({ ad, wrapper }: ReportTracker): Html =>
  html`${ad !== null && html`<span>ad ${ad + 1}</span>`}<span>document ${wrapper + 1}</span>`;

const eventWords = (event: string, offset: string | null): string => (offset ? `${event} ${offset}` : event);
