import { type Html, html } from './html.ts';
import type { Report, ReportTag } from './report.ts';
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

function showFinding({ name, category, severity, description, detail, url, slug }: ReportTag): Html {
  return html`<article class="finding ${severity}"><h3><bdi>${name}</bdi> <span class="chip ${severity}">${severity}</span></h3>
<p>${description}</p>${detail && html`<p class="detail"><bdi>${detail}</bdi></p>`}${url && html`<p class="where">${showUrl(url)}</p>`}
<p class="meta"><span>${category}</span><code>${slug}</code></p></article>`;
}
