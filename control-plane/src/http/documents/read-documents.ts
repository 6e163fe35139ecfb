import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import MiniSearch from 'minisearch';
import { pathOf, type Rendered, renderDocument, rootFrom } from './render-document.ts';

const FOLDER = join(import.meta.dirname, '../../../../infra/docs');

export type Document = Rendered & { name: string };
/** A group of documents in the order in which they are read. */
export type Chapter = { chapter: string; documents: Document[] };

export type Found = { path: string; page: string; heading: string; excerpt: string };

/** All documents, by their paths from the root of the service. `search` finds their sections, the best first. */
export type Documents = {
  chapters: Chapter[];
  byPath: ReadonlyMap<string, Document>;
  search: (words: string) => Found[];
};

const RESULTS_MAX = 30;
const LISTS = /^(errors|events|settings|metrics)#/;
/** Characters around the first word that was found. */
const EXCERPT = 160;

/**
 * Reads the documents from the Markdown files that `contents.json` lists, by chapter. Throws for one that is missing.
 */
export async function readDocuments(): Promise<Documents> {
  const contents: Record<string, string[]> = JSON.parse(await readFile(join(FOLDER, 'contents.json'), 'utf8'));
  const chapters: Chapter[] = [];
  for (const [chapter, names] of Object.entries(contents)) {
    const texts = await Promise.all(names.map((name) => readFile(join(FOLDER, `${name}.md`), 'utf8')));
    const rendered = texts.map((text, at) => ({ name: names[at]!, ...renderDocument(text, rootFrom(names[at]!)) }));
    chapters.push({ chapter, documents: rendered });
  }
  const all = chapters.flatMap(({ documents }) => documents);
  return {
    chapters,
    byPath: new Map(all.map((one) => [pathOf(one.name), one])),
    search: searchOf(all),
  };
}

/** Words of a search that count: each is looked for in all documents. */
const WORDS_MAX = 12;

/** Sections are found by words that begin so, or are nearly so; headings count more than texts. */
function searchOf(documents: Document[]): Documents['search'] {
  const rows = documents.flatMap(({ name, title, sections }) =>
    sections.map(({ id, heading, text, code }, at) => ({
      id: `${name}#${id}`,
      path: at === 0 ? pathOf(name) : `${pathOf(name)}#${id}`,
      page: title,
      heading,
      text,
      code,
    })),
  );
  // A name such as `scanning.scan.completed` or `ADSWEEP_SLOTS` is found as a whole and by its parts.
  const wordsOf = (text: string) => text.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== '');
  const index = new MiniSearch({
    fields: ['heading', 'page', 'text', 'code'],
    storeFields: ['path', 'page', 'heading', 'text'],
    tokenize: wordsOf,
    searchOptions: {
      // Nearly every word begins with a single letter that somebody sent.
      prefix: (word: string) => word.length > 1,
      fuzzy: 0.15,
      combineWith: 'AND' as const,
      boost: { heading: 4, page: 2, code: 0.5 },
      // What explains comes before what lists.
      boostDocument: (id) => (LISTS.test(id) ? 0.4 : 1),
    },
  });
  index.addAll(rows);
  return (words) =>
    index
      .search([...new Set(wordsOf(words))].slice(0, WORDS_MAX).join(' '))
      .slice(0, RESULTS_MAX)
      .map(({ path, page, heading, text, terms }) => ({ path, page, heading, excerpt: excerptOf(text, terms) }));
}

function excerptOf(text: string, terms: string[]): string {
  const flat = text.replaceAll(/\s+/g, ' ').trim();
  const places = terms.map((term) => flat.toLowerCase().indexOf(term)).filter((at) => at >= 0);
  const from = Math.max(0, Math.min(...places, flat.length) - EXCERPT / 2);
  const start = places.length === 0 ? 0 : from;
  const cut = flat.slice(start, start + EXCERPT).toWellFormed();
  return `${start > 0 ? '... ' : ''}${cut}${start + EXCERPT < flat.length ? ' ...' : ''}`;
}
