import { type Html, html } from '../../http/pages/html.ts';
import { ByteBudget } from './byte-budget.ts';
import type { Report, ReportCompanies, ReportCompany } from './report.ts';
import { counted, durationWords, sizeWords } from './words.ts';

/** The bytes for all companies. */
const COMPANIES_BYTES = 100_000;

/** The requests by company: a row for each company with a mark for each request on a timeline. */
export function showCompanies({ companies: seen }: Report): Html | null {
  if (!seen) return null;
  const { companies, left_out, requests, from_ms, until_ms } = seen;
  const budget = new ByteBudget(COMPANIES_BYTES);
  const rows = budget.list(companies, (company) => showCompany(company, seen));
  const more = left_out + budget.leftOut;
  const groups = [...new Set(companies.flatMap(({ groups }) => groups.map(({ group }) => group)))];
  const legend = groups.map((group) => html`<span class="of-${group}"><i></i>${group}</span>`);
  return html`<section class="card" id="companies"><h2>Requests by company <span class="count">${counted(companies.length + left_out, 'companies')}, ${counted(requests, 'requests')}${until_ms > from_ms && `, ${durationWords(until_ms - from_ms)}`}</span></h2>
<p class="legend">${legend}</p><p class="axis" aria-hidden="true"><span>at ${durationWords(from_ms)}</span>${until_ms > from_ms && html`<span>at ${durationWords(until_ms)}</span>`}</p><ol class="companies">${rows}</ol>${more > 0 && html`<p class="quiet">and ${more} more</p>`}</section>`;
}

function showCompany({ name, domains, requests, bytes, groups, marks }: ReportCompany, seen: ReportCompanies): Html {
  const span = Math.max(1, seen.until_ms - seen.from_ms);
  const lines = marks.map(
    ({ group, at_ms }) =>
      html`<rect class="of-${group}" x="${((98.5 * (at_ms - seen.from_ms)) / span).toFixed(2)}%" width="1.5%" height="14"/>`,
  );
  const counts = groups.map(({ group, requests }) => html`<span>${counted(requests, group)}</span>`);
  const also = domains.length > 0 && html`<span><bdi>${domains.join(', ')}</bdi></span>`;
  return html`<li><b><bdi>${name}</bdi></b><svg width="100%" height="14" role="img" aria-label="${counted(requests, 'requests')} ${timesOf(marks)}"><rect class="line" y="6" width="100%" height="2"/>${lines}</svg>
<p class="meta">${counts}${bytes > 0 && html`<span>${sizeWords(bytes)}</span>`}${also}</p></li>`;
}

const timesOf = (marks: ReportCompany['marks']): string => {
  const [first, last] = [marks[0]?.at_ms ?? 0, marks.at(-1)?.at_ms ?? 0].map(durationWords);
  return first === last ? `at ${first}` : `from ${first} to ${last}`;
};
