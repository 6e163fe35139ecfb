import { type Html, html } from './html.ts';
import type { Report, ReportMatch, ReportTag } from './report.ts';
import { breakable, folded, showUrl } from './show-url.ts';

/** Details longer than this are folded. */
const DETAIL_MAX = 240;
const DETAIL_START = 160;

/** The names of the findings as an overview: each once, with the number of its findings. */
export function showChips(tags: readonly ReportTag[]): Html | null {
  if (tags.length === 0) return null;
  return html`<ul class="chips">${bySlug(tags).map(showChip)}</ul>`;
}

function showChip(found: readonly ReportTag[]): Html {
  const { name, severity } = found[0]!;
  return html`<li class="chip ${severity}"><bdi>${name}</bdi>${found.length > 1 && `\u00a0×\u00a0${found.length}`}</li>`;
}

/** Every kind of finding with its meaning and where it was found. */
export function showFindings({ tags }: Report): Html | null {
  if (tags.length === 0) return null;
  return html`<section class="card" id="findings"><h2>Findings</h2>${bySlug(tags).map(showFinding)}</section>`;
}

const bySlug = (tags: readonly ReportTag[]): ReportTag[][] => [...Map.groupBy(tags, ({ slug }) => slug).values()];

function showFinding(found: readonly ReportTag[]): Html {
  const { name, category, severity, description, slug } = found[0]!;
  return html`<article class="finding ${severity}"><h3><bdi>${name}</bdi> <span class="chip ${severity}">${severity}</span></h3>
<p>${description}</p>${found.map(showPlace)}
<p class="meta"><span>${category}</span><code>${slug}</code></p></article>`;
}

function showPlace({ detail, match, url }: ReportTag): Html {
  const where = url && html`<div class="where">${showUrl(url)}</div>`;
  return html`${detail && showDetail(detail)}${match && showMatch(match)}${where}`;
}

function showDetail(detail: string): Html {
  const whole = proseWithUrls(detail);
  if (detail.length <= DETAIL_MAX) return html`<p class="detail"><bdi>${whole}</bdi></p>`;
  return html`<div class="detail">${folded(proseWithUrls(`${detail.slice(0, DETAIL_START)}…`), whole, detail.length)}</div>`;
}

const proseWithUrls = (text: string): Html =>
  html`${text.split(/(\s+)/).map((word) => (word.includes('://') ? breakable(word) : word))}`;

/** Which rule found it and where, the hit marked in its surroundings. */
function showMatch({ rule, where, before, hit, after }: ReportMatch): Html {
  const by = rule === '' ? 'A rule' : html`The rule <bdi>“${rule}”</bdi>`;
  return html`<p class="match">${by} found it in ${where}:</p>
<p class="detail"><bdi>${before}<mark>${hit}</mark>${after}</bdi></p>`;
}
