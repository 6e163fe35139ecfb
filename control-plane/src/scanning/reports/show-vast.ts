import { type Html, html } from './html.ts';
import type { Report, ReportRung, ReportTracker, ReportVast, ReportVideoAd } from './report.ts';
import { showUrl } from './show-url.ts';
import { durationWords, SHOWN, VAST_OUTCOMES } from './words.ts';

/** Trackers beyond these are folded away. */
const SHOWN_MAX = 40;
const PICTURE_WIDTH = 800;
/** Characters of a tracker's URL that are shown: there are many trackers. */
const URL_MAX = 90;

/** What came of a video ad tag: its companions, the ladder of its wrappers, and every tracker declared against fired. */
export function showVast({ token, vast }: Report): Html | null {
  if (!vast) return null;
  return html`${showCompanions(token, vast)}${showLadder(vast)}${showTrackers(vast)}`;
}

/** The video: a frame of it, and its ads. */
export function showVideo({ token, vast }: Report): Html | null {
  if (!vast || vast.ads.length === 0) return null;
  const { picture, ads, ads_left_out, version, ad_system } = vast;
  const facts = [version && `VAST ${version}`, ad_system].filter(Boolean).join(', ');
  const frame = picture
    ? html`<a class="frame" href="${token}/creative-screenshot"><img src="${token}/creative-screenshot?w=${PICTURE_WIDTH}" alt="A frame of the video"></a>`
    : html`<p class="no-shot">No frame could be taken</p>`;
  return html`<section class="card" id="video"><h2>Video <span class="count"><bdi>${facts}</bdi></span></h2>${frame}${ads.map(showAd)}${showMore(ads_left_out)}</section>`;
}

function showAd({ title, shown, media_url, size, declared_ms, played_ms, error_code }: ReportVideoAd): Html {
  const times = [
    declared_ms === null ? null : `declared ${durationWords(declared_ms)}`,
    played_ms > 0 ? `played ${durationWords(played_ms)}` : null,
    size || null,
  ].filter((word) => word !== null);
  const error = error_code !== null && html`<span class="code bad">error ${error_code}</span>`;
  return html`<article class="ad"><h3><bdi>${title || 'An ad without a title'}</bdi></h3>
<p class="meta"><span>${SHOWN[shown]}</span>${times.map((time) => html`<span>${time}</span>`)}${error}</p>${media_url && html`<div class="where">${showUrl(media_url)}</div>`}</article>`;
}

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

/** Each document one step deeper than the wrapper that led to it. */
function showLadder({ rungs, rungs_left_out }: ReportVast): Html | null {
  if (rungs.length === 0) return null;
  const count = rungs.length === 1 ? 'no wrapper' : `${rungs.length} documents`;
  return html`<section class="card" id="wrappers"><h2>Wrappers <span class="count">${count}</span></h2><ol class="ladder">${rungs.map(showRung)}</ol>${showMore(rungs_left_out)}</section>`;
}

function showRung(
  { depth, outcome, url, version, ad_system, status_code, elapsed_ms }: ReportRung,
  index: number,
): Html {
  const tone = outcome === 'ads' ? 'good' : 'bad';
  const words = [ad_system, version && `VAST ${version}`, elapsed_ms > 0 && durationWords(elapsed_ms)].filter(Boolean);
  const code = status_code > 0 && html`<span class="code ${tone}">${status_code}</span>`;
  return html`<li class="rung depth-${Math.min(depth, 5)}"><span class="number">${index + 1}</span><div class="step">${showUrl(url)}
<p class="meta">${code}<span>${VAST_OUTCOMES[outcome]}</span>${words.map((word) => html`<span><bdi>${word}</bdi></span>`)}</p></div></li>`;
}

/** Declared against fired, in the order of firing; what was not due comes last. */
function showTrackers({ trackers, trackers_left_out }: ReportVast): Html | null {
  if (trackers.length === 0) return null;
  const fired = trackers.filter(({ at_ms }) => at_ms !== null).sort((a, b) => Number(a.at_ms) - Number(b.at_ms));
  const idle = trackers.filter(({ at_ms }) => at_ms === null);
  const from = fired[0]?.at_ms ?? 0;
  const span = Math.max(1, (fired.at(-1)?.at_ms ?? 0) - from);
  const rows = fired.map((tracker) => showFired(tracker, (100 * (Number(tracker.at_ms) - from)) / span));
  const rest = rows.slice(SHOWN_MAX);
  const folded =
    rest.length > 0 &&
    html`<details class="rest"><summary>${rest.length} more</summary><ol class="trackers">${rest}</ol></details>`;
  const unused =
    idle.length > 0 &&
    html`<details class="rest"><summary>${idle.length} ${idle.length === 1 ? 'was' : 'were'} not due</summary><ol class="trackers">${idle.map(showIdle)}</ol></details>`;
  return html`<section class="card" id="trackers"><h2>Trackers <span class="count">${fired.length} of ${trackers.length} fired</span></h2><ol class="trackers">${rows.slice(0, SHOWN_MAX)}</ol>${folded}${unused}${showMore(trackers_left_out)}</section>`;
}

function showFired({ event, offset, url, rung, at_ms, playhead_ms, status_code }: ReportTracker, at: number): Html {
  const isLost = status_code === 0 || status_code >= 400;
  const playhead = playhead_ms !== null && html`<span>video at ${durationWords(playhead_ms)}</span>`;
  return html`<li class="${isLost ? 'lost' : 'fired'}"><b>${eventWords(event, offset)}</b><svg class="moment" width="100%" height="10" aria-hidden="true"><rect class="line" y="4" width="100%" height="2"/><circle cx="${(2 + at * 0.96).toFixed(2)}%" cy="5" r="5"/></svg>
<p class="meta"><span class="code ${isLost ? 'bad' : 'good'}">${status_code || 'no answer'}</span><span>at ${durationWords(Number(at_ms))}</span>${playhead}<span>document ${rung + 1}</span></p><div class="where">${showUrl(url, URL_MAX)}</div></li>`;
}

const showIdle = ({ event, offset, url, rung }: ReportTracker): Html =>
  html`<li class="idle"><b>${eventWords(event, offset)}</b><p class="meta"><span>document ${rung + 1}</span></p><div class="where">${showUrl(url, URL_MAX)}</div></li>`;

const eventWords = (event: string, offset: string | null): string => (offset ? `${event} ${offset}` : event);
