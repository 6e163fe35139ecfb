import type { CapturedDocument } from '@adsweep/shared/capture/artifacts.ts';

/** A landing as its documents show it: its own `url`, what it and its frames say, and their HTML. */
export type SeenPage = { landing: number; url: string; title: string; text: string; html: string[] };

/** Of each document's text so many characters from its beginning and its end: what is to frighten stands where it is seen. */
const HEAD_LENGTH = 20_000;
const TAIL_LENGTH = 5_000;
/** Of all texts of a landing together. */
const TEXT_LENGTH = 50_000;
/** What is invisible and takes words apart: soft hyphens, zero-width characters, marks of direction. */
const INVISIBLE = /[\u00ad\u200b-\u200f\u202a-\u202e\u2060\ufeff]/g;

/** What was made of documents, for as long as they are there: several detectors ask for the same. */
const known = new WeakMap<readonly CapturedDocument[], SeenPage[]>();

/** The landings that have documents. Pure. */
export function seenPages(documents: readonly CapturedDocument[]): SeenPage[] {
  const pages = known.get(documents) ?? readPages(documents);
  known.set(documents, pages);
  return pages;
}

function readPages(documents: readonly CapturedDocument[]): SeenPage[] {
  return [...Map.groupBy(documents, ({ landing }) => landing)].map(([landing, all]) => {
    const own = all.find(({ frame }) => frame === '') ?? all[0];
    const texts = all.map(({ title, text }) => readableText(`${title}\n${text}`));
    return {
      landing,
      url: own?.url ?? '',
      title: readableText(own?.title ?? ''),
      text: texts.join('\n').slice(0, TEXT_LENGTH),
      html: all.map(({ html }) => html),
    };
  });
}

/** Text in which phrases are looked for: in lower case, after Unicode NFKC, one space between words, lines kept. Pure. */
export function readableText(text: string): string {
  const shown =
    text.length <= HEAD_LENGTH + TAIL_LENGTH ? text : `${text.slice(0, HEAD_LENGTH)}\n${text.slice(-TAIL_LENGTH)}`;
  const visible = shown.replace(INVISIBLE, '').replaceAll('’', "'");
  return visible
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\S\n]+/g, ' ');
}
