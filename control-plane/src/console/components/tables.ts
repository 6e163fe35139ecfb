import { type Html, html, type Inserted } from '../../http/pages/html.ts';
import type { Listed } from '../api/schemas.ts';
import type { Visit } from '../visit.ts';
import { number } from './texts.ts';

/**
 * A column: `number` aligns its cells to the right; `unseen`: those who see it need no heading. `width`: what it has
 * room for; without, it gets what the others leave.
 */
export type Column = { label: string; kind?: 'number' | 'unseen'; width?: ColumnWidth };
type ColumnWidth = 'picture' | 'chip' | 'words' | 'facts' | 'duration' | 'moment';

/**
 * A table; on a phone each row becomes a block in which every cell has its heading. If columns have a width, rows that
 * arrive later move none of those that are shown.
 */
export function table(
  caption: string,
  columns: Column[],
  rows: Inserted[][],
  attributes: (row: number) => Html | null = () => null,
): Html {
  const head = columns.map(
    ({ label, kind }) =>
      html`<th scope="col"${kind === 'number' && html` class="number-cell"`}>${kind === 'unseen' ? html`<span class="unseen">${label}</span>` : label}</th>`,
  );
  const body = rows.map(
    (cells, row) =>
      html`<tr${attributes(row)}>${cells.map((cell, at) => html`<td data-label="${columns[at]!.kind === 'unseen' ? '' : columns[at]!.label}"${columns[at]!.kind === 'number' && html` class="number-cell"`}>${cell}</td>`)}</tr>`,
  );
  const isFixed = columns.some(({ width }) => width !== undefined);
  const widths = columns.map(({ width }) => html`<col${width !== undefined && html` class="for-${width}"`}>`);
  return html`<div class="table"><table${isFixed && html` class="fixed"`}><caption class="unseen">${caption}</caption>${isFixed && html`<colgroup>${widths}</colgroup>`}<thead><tr>${head}</tr></thead><tbody>${body}</tbody></table></div>`;
}

/** What is shown in place of an empty list. */
export const empty = (title: string, text: Inserted, next: Html | null | false = null): Html =>
  html`<div class="empty"><p class="empty-title">${title}</p><p>${text}</p>${next}</div>`;

/** What is shown in place of a list that the API refused, which must not look like an empty one. */
export const unread = (next: Html): Html => empty('The list was not read', 'Why is said above.', next);

/** The way to the pages before and after, and how many rows there are. */
export function pager(
  { query, link }: Visit,
  path: string,
  { page, pages, total, limit }: Listed<unknown>,
  noun: string,
): Html | null {
  if (total === 0) return null;
  const to = (target: number) => {
    const other = new URLSearchParams(query);
    for (const name of ['done', 'page']) other.delete(name);
    if (target > 1) other.set('page', String(target));
    return link(path, other);
  };
  const [first, last] = [(page - 1) * limit + 1, Math.min(page * limit, total)];
  return html`<nav class="pager" aria-label="Pages"><span class="quiet">${number(first)}–${number(last)} of ${number(total)} ${noun}</span>${page > 1 && html`<a class="button plain" rel="prev" href="${to(page - 1)}">Previous</a>`}${page < pages && html`<a class="button plain" rel="next" href="${to(page + 1)}">Next</a>`}</nav>`;
}

/** A number with what it counts. */
export const tile = (
  value: Inserted,
  label: Inserted,
  { href, tone }: { href?: string | false; tone?: string } = {},
): Html => {
  const inner = html`<span class="tile-value${tone ? ` ${tone}-text` : ''}">${value}</span><span class="tile-label">${label}</span>`;
  return href ? html`<a class="tile" href="${href}">${inner}</a>` : html`<div class="tile">${inner}</div>`;
};

/** Facts as a list of terms. */
export const facts = (pairs: [term: string, value: Inserted][]): Html =>
  html`<dl class="facts-list">${pairs.map(([term, value]) => html`<div><dt>${term}</dt><dd>${value}</dd></div>`)}</dl>`;

export const card = (
  title: Inserted,
  body: Inserted,
  { id, count, region }: { id?: string; count?: Inserted; region?: string } = {},
): Html =>
  html`<section class="card"${id !== undefined && html` id="${id}"`}${region !== undefined && html` data-region="${region}"`}><h2>${title}${count !== undefined && html` <span class="count">${count}</span>`}</h2>${body}</section>`;
