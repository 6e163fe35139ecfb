import { type Html, html } from './html.ts';
import type { Report, ReportMatch, ReportTag } from './report.ts';
import { showUrl } from './show-url.ts';

/** Names of the findings, for a glance. */
export function showChips(tags: readonly ReportTag[]): Html | null {
  if (tags.length === 0) return null;
  return html`<ul class="chips">${tags.map(({ name, severity }) => html`<li class="chip ${severity}"><bdi>${name}</bdi></li>`)}</ul>`;
}

/** Every finding with what it means and where it was seen. */
export function showFindings({ tags }: Report): Html | null {
  if (tags.length === 0) return null;
  return html`<section class="card" id="findings"><h2>Findings</h2>${tags.map(showFinding)}</section>`;
}

function showFinding({ name, category, severity, description, detail, url, slug, match }: ReportTag): Html {
  return html`<article class="finding ${severity}"><h3><bdi>${name}</bdi> <span class="chip ${severity}">${severity}</span></h3>
<p>${description}</p>${detail && html`<p class="detail"><bdi>${detail}</bdi></p>`}${match && showMatch(match)}${url && html`<div class="where">${showUrl(url)}</div>`}
<p class="meta"><span>${category}</span><code>${slug}</code></p></article>`;
}

/** Which rule found it and where, the hit marked in its surroundings. */
function showMatch({ rule, where, before, hit, after }: ReportMatch): Html {
  const by = rule === '' ? 'A rule' : html`The rule <bdi>“${rule}”</bdi>`;
  return html`<p class="match">${by} found it in ${where}:</p>
<p class="detail"><bdi>${before}<mark>${hit}</mark>${after}</bdi></p>`;
}
