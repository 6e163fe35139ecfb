import { type Html, html } from '../../http/pages/html.ts';
import type { ScanTiming } from '../scans/api/timing.ts';
import { ByteBudget, showLeftOut } from './byte-budget.ts';
import type { Report, ReportPlace } from './report.ts';
import { showUrl } from './show-url.ts';
import { AD_KIND_WORDS, durationWords, TARGETS, timeWords } from './words.ts';

/** The bytes for the classification. */
const CLASSIFICATION_BYTES = 20_000;

/** The target, country, device and times of the scan. */
export function showFacts(report: Report): Html {
  const { target, campaign, place, country, device, created_at, timing, retries } = report;
  const hidden = html`<span class="quiet">Its text is not included in public reports</span>`;
  const text = target.url === null ? hidden : showUrl(target.url);
  return html`<dl class="facts card">${fact(TARGETS[target.kind], text, true)}${place && showAd(place)}${campaign !== null && fact('Campaign', campaign)}${fact('Country', country)}
${fact('Device', device)}
${fact('Requested', showTime(created_at))}${timing && fact('Took', durationWords(timing.total_ms))}
${retries > 0 && fact('Attempts', String(retries + 1))}</dl>`;
}

function showAd({ ad: { number, kind, network, network_host } }: ReportPlace): Html {
  const host = network !== '' && network_host !== '' && ` (${network_host})`;
  return html`${fact('Ad', `${number}: ${AD_KIND_WORDS[kind]}`)}${fact('Ad network', html`${network || network_host || 'not known'}${host}`)}`;
}

const fact = (term: string, value: string | Html, wide = false): Html =>
  html`<div${wide && html` class="wide"`}><dt>${term}</dt><dd><bdi>${value}</bdi></dd></div>`;

const showTime = (at: Date): Html => html`<time datetime="${at.toISOString()}">${timeWords(at)}</time>`;

/** The requested and the actual exit; null before there is one. */
export function showExit({ exit }: Report): Html | null {
  if (exit.length === 0) return null;
  const rows = exit.map(
    ([property, requested, actual]) =>
      html`<tr><th scope="row">${property}</th><td><bdi>${requested}</bdi></td><td><bdi>${actual}</bdi></td></tr>`,
  );
  return html`<section class="card exit"><h2>Proxy exit</h2><table><thead><tr><td></td><th scope="col">Requested</th><th scope="col">Actual</th></tr></thead><tbody>${rows}</tbody></table></section>`;
}

/** The classification of the landing; null if there is none. */
export function showClassification({ classification }: Report): Html | null {
  if (classification.length === 0) return null;
  const budget = new ByteBudget(CLASSIFICATION_BYTES);
  const rows = budget.list(classification, ([kind, value]) => fact(kind, value, true));
  return html`<section class="card"><h2>Classification</h2><dl class="rows">${rows}</dl>${showLeftOut(budget.leftOut, 'more are')}</section>`;
}

/** The timing of the scan, drawn to scale. */
export function showTiming({ timing }: Report): Html | null {
  if (!timing) return null;
  const parts = timingParts(timing);
  const bars = parts.map(
    ({ name, from, share }) => html`<rect class="${name}" x="${from}%" width="${share}%" height="12"/>`,
  );
  const legend = parts.map(({ name, ms }) => html`<li class="${name}">${name} <b>${durationWords(ms)}</b></li>`);
  return html`<section class="card timing"><h2>Time</h2><svg class="bar" width="100%" height="12" aria-hidden="true">${bars}</svg><ul>${legend}</ul></section>`;
}

/** The parts of the time in order: name, duration, and start and share in percent. */
function timingParts({ queued_ms, crawl_ms, checks_ms }: ScanTiming) {
  const parts = [
    { name: 'queued', ms: queued_ms },
    { name: 'crawl', ms: crawl_ms },
    { name: 'analysis', ms: checks_ms },
  ];
  const total = Math.max(1, queued_ms + crawl_ms + checks_ms);
  let from = 0;
  return parts.map((part) => {
    const share = (100 * part.ms) / total;
    from += share;
    return { ...part, from: (from - share).toFixed(2), share: share.toFixed(2) };
  });
}
