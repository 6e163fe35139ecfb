import { API_BODY_VALUES_MAX } from '@adsweep/shared/limits.ts';
import { refusedBody } from '../../http/read-body.ts';

/** The lines of a text that are not empty, trimmed. Throws 422 for more than a body of the API may have values. */
export const linesIn = (text: string): string[] => partsOf(text, '\n').flatMap((line) => line.trim() || []);

/** The words of a text, between spaces, ends of lines and commas. Throws 422 as `linesIn` does. */
export const wordsIn = (text: string): string[] => partsOf(text, /[\s,]+/).filter((word) => word !== '');

function partsOf(text: string, separator: string | RegExp): string[] {
  const parts = text.split(separator as string, API_BODY_VALUES_MAX + 1);
  if (parts.length > API_BODY_VALUES_MAX)
    throw refusedBody('too_many_values', `A list may have at most ${API_BODY_VALUES_MAX} items.`);
  return parts;
}
