import type { TagMatch } from './scan.ts';

/** Where a rule matched, in words. */
const SOURCE_WORDS: Record<TagMatch['place'], string> = {
  hop: 'a hop of the redirect chain',
  request: 'a request',
  title: 'the title',
  text: 'the visible text',
  html: 'the HTML',
  content: 'the content of a resource',
};

/** The same with the landing and the offset in UTF-16 code units. */
export const matchWords = ({ place, landing, offset }: Pick<TagMatch, 'place' | 'landing' | 'offset'>): string =>
  `${SOURCE_WORDS[place]}${landing === null ? '' : ` of landing ${landing}`}, at ${offset}`;
