import type { TagMatch } from './scan.ts';

/** Where a rule found something, in words. */
const PLACE_WORDS: Record<TagMatch['place'], string> = {
  hop: 'a step of the chain',
  request: 'a request',
  title: 'the title',
  text: 'the visible text',
  html: 'the HTML',
  content: 'the content of a resource',
};

/** The same with the landing, and after how many UTF-16 units. */
export const matchWords = ({ place, landing, offset }: Pick<TagMatch, 'place' | 'landing' | 'offset'>): string =>
  `${PLACE_WORDS[place]}${landing === null ? '' : ` of landing ${landing}`}, at ${offset}`;
