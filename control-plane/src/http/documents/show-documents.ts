import { type Assets, type Html, html, pageDocument } from '../pages/html.ts';
import type { Chapter, Document, Documents, Found } from './read-documents.ts';
import { pathOf, rootFrom } from './render-document.ts';

const assetsFrom = (root: string): Assets => ({
  stylesheet: `${root}docs/documents.css`,
  icon: `${root}docs/icon.svg`,
});
const FOOTER = 'The documents of this version of Adsweep.';

/** A document with the list of all, as an HTML page. */
export function showDocument({ chapters }: Documents, shown: Document): string {
  const parts = shown.headings.filter(({ level }) => level === 2);
  const list = html`<nav class="parts" aria-label="On this page"><ul>${parts.map(
    ({ id, text }) => html`<li><a href="#${id}">${text}</a></li>`,
  )}</ul></nav>`;
  const article = html`${parts.length > 2 && list}<article class="card document">${shown.body}${neighbours(chapters, shown)}</article>`;
  return page(shown.title, chapters, shown.name, '', article);
}

/** What is shown in place of a document that does not exist, at `docs/<name>`. */
export function showMissing({ chapters }: Documents): string {
  const title = 'There is no such page';
  const article = html`<article class="card document"><h1>${title}</h1><p>It may have another name now: search for it, or choose it from the list of all pages.</p></article>`;
  return page(title, chapters, null, '', article);
}

/** What a search has found. */
export function showFound({ chapters }: Documents, words: string, found: Found[]): string {
  const results = html`<ol class="found">${found.map(
    ({ path, page: of, heading, excerpt }) =>
      html`<li><a href="${rootFrom(SEARCH)}${path}">${heading}</a> <span class="quiet">${of === heading ? '' : of}</span><p>${excerpt}</p></li>`,
  )}</ol>`;
  const nothing = html`<p>Nothing was found. Try fewer words, or the beginning of one.</p>`;
  const title = words === '' ? 'Search' : `Search: ${words}`;
  const body = html`<article class="card document"><h1>${title}</h1>${found.length > 0 ? results : words !== '' && nothing}</article>`;
  return page(title, chapters, null, words, body);
}

/** The name of the page of a search. */
const SEARCH = 'search';

/** `current`: the name of the document; null: it is none, and beside the documents below `docs`. */
function page(title: string, chapters: Chapter[], current: string | null, words: string, article: Html): string {
  const root = rootFrom(current ?? SEARCH);
  const body = html`<div class="documents">
<div class="tools">
<a class="skip" href="#contents">All pages</a>
<form action="${root}docs/search" role="search"><input type="search" name="q" value="${words}" aria-label="Search the documents" placeholder="Search" maxlength="200"><button>Search</button></form>
</div>
<div class="reading">${article}</div>
<nav class="contents" id="contents" aria-label="All pages">${chapters.map((one) => showChapter(one, current, root))}
<h2>API</h2><ul><li><a href="${root}docs/api">API reference</a></li><li><a href="${root}api/v1/openapi.json">OpenAPI document</a></li></ul></nav>
</div>`;
  return pageDocument({ title: `${title} - Adsweep`, heading: 'Documents', footer: FOOTER }, assetsFrom(root), body);
}

const showChapter = ({ chapter, documents }: Chapter, current: string | null, root: string): Html =>
  html`<h2>${chapter}</h2><ul>${documents.map(({ name, title }) =>
    name === current
      ? html`<li><a href="${root}${pathOf(name)}" aria-current="page">${title}</a></li>`
      : html`<li><a href="${root}${pathOf(name)}">${title}</a></li>`,
  )}</ul>`;

/** Links to the documents before and after this one. */
function neighbours(chapters: Chapter[], { name }: Document): Html {
  const all = chapters.flatMap(({ documents }) => documents);
  const at = all.findIndex((one) => one.name === name);
  const [before, after] = [all[at - 1], all[at + 1]];
  const root = rootFrom(name);
  return html`<p class="neighbours">${before ? html`<a href="${root}${pathOf(before.name)}" rel="prev">${before.title}</a>` : html`<span></span>`}${
    after ? html`<a href="${root}${pathOf(after.name)}" rel="next">${after.title}</a>` : null
  }</p>`;
}
