/**
 * Something that a sentence may say, whatever words it has between: one word of each group of `all`, and none of `unless`. Words are in
 * lower case and may be parts of words. The rarest group comes first: it is the one that is searched for.
 */
export type Phrase = { all: readonly (readonly string[])[]; unless?: readonly string[] };

/** So far a sentence is looked at, in characters to either side of the word that was found. */
const REACH = 160;
/** Places of one word that are looked at: a page that repeats it says nothing new. */
const PLACES_MAX = 50;
const SENTENCE_END = /[.!?。！？\n]/g;

/** The sentence of `text` (as `readableText` gives it) that says `phrase`, null = none does. Pure; linear in the text. */
export function findPhrase(text: string, { all: [first = [], ...rest], unless = [] }: Phrase): string | null {
  const has = (sentence: string, words: readonly string[]) => words.some((word) => sentence.includes(word));
  for (const word of first) {
    let at = text.indexOf(word);
    for (let places = 0; at >= 0 && places < PLACES_MAX; places++, at = text.indexOf(word, at + word.length)) {
      const sentence = sentenceAt(text, at, word.length);
      if (rest.every((words) => has(sentence, words)) && !has(sentence, unless)) return sentence.trim();
    }
  }
  return null;
}

/** Which of `phrases` are said. */
export const saidOf = (text: string, phrases: readonly Phrase[]): string[] => [
  ...new Set(phrases.flatMap((phrase) => findPhrase(text, phrase) ?? [])),
];

/** How often any of `words` occurs, up to `most`. */
export function countWords(text: string, words: readonly string[], most: number): number {
  let count = 0;
  for (const word of words)
    for (let at = text.indexOf(word); at >= 0 && count < most; at = text.indexOf(word, at + word.length)) count += 1;
  return count;
}

/** The sentence around a word, with the character that ends it. */
function sentenceAt(text: string, at: number, length: number): string {
  const before = text.slice(Math.max(0, at - REACH), at);
  const after = text.slice(at + length, at + length + REACH);
  const begin = before.length - [...before.matchAll(SENTENCE_END)].reduce((_, { index }) => index + 1, 0);
  const end = after.search(SENTENCE_END);
  return text.slice(at - begin, end < 0 ? at + length + after.length : at + length + end + 1);
}
