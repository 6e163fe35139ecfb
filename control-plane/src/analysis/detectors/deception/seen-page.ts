import type { CapturedDocument } from '@adsweep/shared/capture/artifacts.ts';

/** A landing's documents together: its own `url` and `title`, the texts of the page and its frames, and their HTML. */
export type SeenPage = { landing: number; url: string; title: string; text: string; html: string[] };

/** Characters that are read from the beginning and the end of each document's text: deception is where visitors see it. */
const HEAD_LENGTH = 20_000;
const TAIL_LENGTH = 5_000;
/** Characters that are read of all texts of a landing together. */
const TEXT_LENGTH = 50_000;
/** Invisible characters that split words: soft hyphens, zero-width characters, direction marks. */
const INVISIBLE = /[\u00ad\u200b-\u200f\u202a-\u202e\u2060\ufeff]/g;

/** Pages by the documents that they were read from, because several detectors read the same. */
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

/** Text that can be searched for phrases: lower case, Unicode NFKC, single spaces, line breaks kept. Pure. */
export function readableText(text: string): string {
  const shown =
    text.length <= HEAD_LENGTH + TAIL_LENGTH ? text : `${text.slice(0, HEAD_LENGTH)}\n${text.slice(-TAIL_LENGTH)}`;
  const visible = shown.replace(INVISIBLE, '').replaceAll('’', "'");
  return visible
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\S\n]+/g, ' ');
}
