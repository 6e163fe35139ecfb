import { type Html, html } from '../../http/pages/html.ts';
import { ByteBudget, showLeftOut } from './byte-budget.ts';
import type { Report, ReportMatch, ReportTag } from './report.ts';
import { breakable, folded, showUrl } from './show-url.ts';

/** Longer details are collapsed to their first characters. */
const DETAIL_MAX = 240;
const DETAIL_START = 160;

/** The bytes for the overview, for all findings, and for the occurrences of one of them. */
const CHIPS_BYTES = 16_000;
const FINDINGS_BYTES = 120_000;
const OCCURRENCES_BYTES = 24_000;

/** What an overview shows of a finding. */
type Named = Pick<ReportTag, 'slug' | 'name' | 'severity'>;

/** An overview of the findings: each name once, with the number of its findings. */
export function showChips(tags: readonly Named[]): Html | null {
  if (tags.length === 0) return null;
  const budget = new ByteBudget(CHIPS_BYTES);
  const chips = budget.list(bySlug(tags), showChip);
  return html`<ul class="chips">${chips}${budget.leftOut > 0 && html`<li class="quiet">and ${budget.leftOut} more</li>`}</ul>`;
}

function showChip(found: readonly Named[]): Html {
  const { name, severity } = found[0]!;
  return html`<li class="chip ${severity}"><bdi>${name}</bdi>${found.length > 1 && `\u00a0×\u00a0${found.length}`}</li>`;
}

/** The findings by name, each with its description and its occurrences. */
export function showFindings({ tags, sweep }: Report): Html | null {
  if (tags.length === 0) return null;
  const budget = new ByteBudget(FINDINGS_BYTES);
  const findings = budget.list(bySlug(tags), showFinding);
  return html`<section class="card" id="findings"><h2>${sweep ? 'Findings on the page itself' : 'Findings'}</h2>${findings}${showLeftOut(budget.leftOut, 'more kinds of findings are')}</section>`;
}

const bySlug = <Tag extends Named>(tags: readonly Tag[]): Tag[][] => [
  ...Map.groupBy(tags, ({ slug }) => slug).values(),
];

function showFinding(found: readonly ReportTag[]): Html {
  const { name, category, severity, description, slug } = found[0]!;
  const budget = new ByteBudget(OCCURRENCES_BYTES);
  const occurrences = budget.list(found, showOccurrence);
  return html`<article class="finding ${severity}"><h3><bdi>${name}</bdi> <span class="chip ${severity}">${severity}</span></h3>
<p>${description}</p>${occurrences}${showLeftOut(budget.leftOut, 'more of these are')}
<p class="meta"><span>${category}</span><code>${slug}</code></p></article>`;
}

function showOccurrence({ detail, match, url }: ReportTag): Html {
  const where = url && html`<div class="where">${showUrl(url)}</div>`;
  return html`${detail && showDetail(detail)}${match && showMatch(match)}${where}`;
}

function showDetail(detail: string): Html {
  const whole = proseWithUrls(detail);
  if (detail.length <= DETAIL_MAX) return html`<p class="detail"><bdi>${whole}</bdi></p>`;
  return html`<div class="detail">${folded(proseWithUrls(`${detail.slice(0, DETAIL_START).toWellFormed()}…`), whole, detail.length)}</div>`;
}

const proseWithUrls = (text: string): Html =>
  html`${text.split(/(\s+)/).map((word) => (word.includes('://') ? breakable(word) : word))}`;

/** The rule and where it matched, with the hit marked in the text around it. */
function showMatch({ rule, where, before, hit, after }: ReportMatch): Html {
  const by = rule === '' ? 'A rule' : html`The rule <bdi>“${rule}”</bdi>`;
  if (before + hit + after === '') return html`<p class="match">${by} matched in ${where}.</p>`;
  return html`<p class="match">${by} matched in ${where}:</p>
<p class="detail"><bdi>${before}<mark>${hit}</mark>${after}</bdi></p>`;
}
