/**
 * A short text of a page, such as a title, that can be stored and shown: without lone surrogates, control characters,
 * and the characters that turn the direction of text (Unicode Standard Annex 9), by which a name shows another ending
 * than it has.
 */
export const plainText = (text: string): string =>
  text
    .replace(/\p{Bidi_Control}+/gu, '')
    .replace(/\p{Cc}+/gu, ' ')
    .trim()
    .toWellFormed();
