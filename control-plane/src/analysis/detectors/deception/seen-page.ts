import type { CapturedDocument } from '@adsweep/shared/capture/artifacts.ts';
import { lowerCase } from '../../evidence/lower-case.ts';
import { withLatinLetters, withoutOddMarks } from './look-alikes.ts';
import { ownWords } from './phrase.ts';

/**
 * A landing's documents together: its own `url` and `title`, the texts of the page and its frames as far as visitors
 * see them, what is in view first, and their HTML. `own`: the text without what it reports of deception, '' if it is
 * about that. `landing` null: those of a creative.
 */
export type SeenPage = {
  landing: number | null;
  url: string;
  title: string;
  text: string;
  own: string;
  html: string[];
};

/** Whether a page is about deception, as an article is: it says little else. Pure. */
export const isAboutDeception = ({ text, own }: SeenPage): boolean => text !== '' && own === '';

/**
 * Characters that are read from the beginning and the end of each document's text: deception is where visitors see it.
 */
const HEAD_LENGTH = 20_000;
const TAIL_LENGTH = 5_000;
/** Characters that are read of all texts of a landing together. */
const TEXT_LENGTH = 50_000;
/** Invisible characters that split words: soft hyphens, zero-width characters, direction marks, variation selectors. */
const INVISIBLE = /\p{Default_Ignorable_Code_Point}/gu;

/**
 * What is shown from right to left because of a character (Unicode Standard Annex 9: U+202E to U+202C or the end of the
 * line).
 */
const REVERSED = /\u202e([^\u202c\n]*)/g;
const reversed = (_: string, text: string): string => [...text].reverse().join('');

/** Frames of captcha services: what they say ("I'm not a robot") is not said by the page. */
const CAPTCHAS =
  /^https:\/\/((www\.)?google\.com\/recaptcha|(www\.)?recaptcha\.net\/recaptcha|(newassets\.)?hcaptcha\.com|challenges\.cloudflare\.com|smartcaptcha\.yandexcloud\.net|geo\.captcha-delivery\.com|[\w-]+\.arkoselabs\.com)\//;

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
    const said = all.filter(({ frame, url }) => frame === '' || !CAPTCHAS.test(url));
    // The titles of frames are shown nowhere.
    const inView = said.map(({ frame, title, text, viewport_length = text.length }) =>
      readableText(`${frame === '' ? title : ''}\n${text.slice(0, viewport_length)}`),
    );
    const below = said.map(({ text, viewport_length = text.length, page_length = text.length }) =>
      readableText(text.slice(viewport_length, page_length)),
    );
    const title = readableText(own?.title ?? '');
    const text = [...inView, ...below].join('\n').slice(0, TEXT_LENGTH);
    return {
      landing,
      url: own?.url ?? '',
      title,
      text,
      own: ownWords(text, title),
      html: all.map(({ html }) => html),
    };
  });
}

/**
 * Text that can be searched for phrases: `lowerCase`, Unicode NFKC, Latin letters for look-alikes, single spaces, line
 * breaks kept. Pure.
 */
export function readableText(text: string): string {
  const shown =
    text.length <= HEAD_LENGTH + TAIL_LENGTH ? text : `${text.slice(0, HEAD_LENGTH)}\n${text.slice(-TAIL_LENGTH)}`;
  const visible = shown.replace(REVERSED, reversed).replace(INVISIBLE, '').replaceAll('’', "'");
  return lowerCase(withLatinLetters(visible.normalize('NFKC'))).replace(/[^\S\n]+/g, ' ');
}

/** Words to search for, folded as {@link readableText} folds them in a line of their language. Pure. */
export const asRead = (words: readonly string[]): string[] =>
  words.map((word) => lowerCase(withoutOddMarks(word.normalize('NFKC'))));
