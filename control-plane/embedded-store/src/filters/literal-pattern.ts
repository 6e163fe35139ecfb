/**
 * A text and pattern of this product are tested by the engine of regular expressions, which takes a step for each pair
 * of characters at worst.
 */
const STEPS_MAX = 1_000_000;
/** MongoDB refuses a null character as it is. */
const ESCAPED = /\\(?:([\\^$.*+?()[\]{}|/-])|x00)/g;
const SPECIAL = /[\\^$.*+?()[\]{}|]/;

/**
 * A test for a pattern that takes a time in proportion to the length of the text. For patterns that are a plain text,
 * in any letter case or not, of long texts; null for all others.
 */
export function literalTest(pattern: RegExp): ((text: string) => boolean) | null {
  const literal = literalOf(pattern);
  if (literal === null) return null;
  const { source, flags } = pattern;
  const fold = flags === 'i' ? folded : (text: string) => text;
  const wanted = fold(literal);
  const fallback = fallbackOf(wanted);
  const regex = new RegExp(source, flags);
  return (text) =>
    text.length * wanted.length <= STEPS_MAX ? regex.test(text) : contains(fold(text), wanted, fallback);
}

/** The text that a pattern finds, in any letter case or not; null: it is no plain text. */
export function literalOf({ source, flags }: RegExp): string | null {
  const isPlain = !SPECIAL.test(source.replaceAll(ESCAPED, ''));
  return isPlain && (flags === '' || flags === 'i') ? source.replaceAll(ESCAPED, (_, one = '\0') => one) : null;
}

/**
 * Each character as a regular expression without the flag `u` compares it in any letter case (ECMA-262, Canonicalize).
 */
function folded(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII
  if (/^[\x00-\x7f]*$/.test(text)) return text.toUpperCase();
  return Array.from({ length: text.length }, (_, at) => {
    const one = text[at]!;
    const upper = one.toUpperCase();
    return upper.length !== 1 || (one > '\x7f' && upper <= '\x7f') ? one : upper;
  }).join('');
}

/**
 * By position: the length of the longest proper beginning of the word that ends there (Knuth, Morris and Pratt, 1977).
 */
function fallbackOf(word: string): Int32Array {
  const fallback = new Int32Array(word.length);
  for (let at = 1, length = 0; at < word.length; at++) {
    while (length > 0 && word.charCodeAt(at) !== word.charCodeAt(length)) length = fallback[length - 1]!;
    if (word.charCodeAt(at) === word.charCodeAt(length)) length++;
    fallback[at] = length;
  }
  return fallback;
}

function contains(text: string, word: string, fallback: Int32Array): boolean {
  for (let at = 0, length = 0; at < text.length; at++) {
    while (length > 0 && text.charCodeAt(at) !== word.charCodeAt(length)) length = fallback[length - 1]!;
    if (text.charCodeAt(at) === word.charCodeAt(length)) length++;
    if (length === word.length) return true;
  }
  return word.length === 0;
}
