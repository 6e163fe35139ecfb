/**
 * Letters that look like a Latin letter, by that letter: a selection of the confusables of Unicode Technical Standard
 * 39, of the scripts that pages imitate Latin with (Cyrillic, Greek, Armenian, Cherokee, Lisu), and small capitals.
 * Others are Latin after NFKC.
 */
const LOOK_ALIKES: Record<string, string> = {
  A: 'ΑАᎪꓮᴀ',
  B: 'ΒВᏴꓐʙ',
  C: 'СᏟꓚᴄϹ',
  D: 'ᎠꓓᴅԀ',
  E: 'ΕЕᎬꓰᴇ',
  F: 'ꓝꜰϜ',
  G: 'ԌᏀꓖɢ',
  H: 'ΗНᎻꓧʜ',
  I: 'ΙІӀᏆꓲɪ',
  J: 'ЈᎫꓙᴊͿ',
  K: 'ΚКᏦꓗᴋ',
  L: 'ᏞꓡʟԼ',
  M: 'ΜМᎷꓟᴍ',
  N: 'ΝꓠɴИ',
  O: 'ΟОꓳᴏՕ',
  P: 'ΡРᏢꓑᴘ',
  Q: 'Ԛ',
  R: 'ᎡᏒꓣʀ',
  S: 'ЅᏚꓢꜱՏ',
  T: 'ΤТᎢꓔᴛ',
  U: 'Սꓴᴜ',
  V: 'ѴᏙꓦᴠ',
  W: 'ԜᎳꓪᴡ',
  X: 'ΧХꓫ',
  Y: 'ΥУҮᎩꓬʏ',
  Z: 'ΖᏃꓜᴢ',
  a: 'аαɑ',
  b: 'ьƄβв',
  c: 'сϲ',
  d: 'ԁɗ',
  e: 'еєҽε',
  f: 'ϝք',
  g: 'ɡց',
  h: 'һհн',
  i: 'іιıɩᎥ',
  j: 'јϳ',
  k: 'кκ',
  l: 'ӏǀ',
  m: 'м',
  n: 'пηոռ',
  o: 'оοօσ',
  p: 'рρ',
  q: 'ԛզ',
  r: 'гᴦɾ',
  s: 'ѕʂ',
  t: 'тτ',
  u: 'υսʋ',
  v: 'νѵ',
  w: 'ԝшωա',
  x: 'хχ',
  y: 'уγүყ',
  z: 'ʐ',
};
const LATIN = new Map(
  Object.entries(LOOK_ALIKES).flatMap(([latin, letters]) => [...letters].map((letter) => [letter, latin] as const)),
);
/** Letters in circles and squares, each a block of A to Z: no other text has them. */
const ENCLOSED: readonly number[] = [0x1f150, 0x1f170];
const IS_ENCLOSED = /[\u{1f150}-\u{1f169}\u{1f170}-\u{1f189}]/gu;

const WORD = /[\p{L}\p{M}]+/gu;
const IS_LATIN = /\p{Script=Latin}/u;
const OTHERS = /[^\p{Script=Latin}\p{M}]/gu;
/** Latin letters with marks that no language of the phrases has, and marks that belong to no letter of Unicode. */
const ODD_MARKS = /[\u1e00-\u1eff]|(?<=\p{Script=Latin})\p{M}+/gu;

/**
 * A text in NFKC with Latin letters in place of those that only look like them. A word is changed if it mixes Latin
 * with look-alikes, or if it consists of look-alikes in a line without words of other scripts. Pure; takes linear time.
 */
export function withLatinLetters(text: string): string {
  if (/^[\0-\u024f\u2000-\u206f]*$/.test(text)) return text;
  const plain = text.replace(IS_ENCLOSED, latinOfEnclosed);
  return plain.replace(/[^\n]+/g, (line) => {
    const isLatinLine = isOfLatin(line);
    return line.replace(WORD, (word) => latinOf(withoutOddMarks(word), isLatinLine));
  });
}

function latinOfEnclosed(letter: string): string {
  const code = letter.codePointAt(0) ?? 0;
  const first = ENCLOSED.findLast((begin) => code >= begin) ?? code;
  return String.fromCharCode(65 + code - first);
}

/**
 * A text without marks on Latin letters that disguises use. Vietnamese has them too: words to search for are folded
 * alike. Pure.
 */
export const withoutOddMarks = (text: string): string => text.replace(ODD_MARKS, withoutMarks);

const withoutMarks = (letters: string): string => letters.normalize('NFD').replace(/\p{M}/gu, '');

/** Whether a line has Latin letters and no word of another script, except words of look-alikes alone. */
const isOfLatin = (line: string): boolean => IS_LATIN.test(line) && (line.match(WORD) ?? []).every(looksLatin);

const looksLatin = (word: string): boolean =>
  IS_LATIN.test(word) || (word.match(OTHERS) ?? []).every((letter) => LATIN.has(letter));

const latinOf = (word: string, isLatinLine: boolean): string =>
  looksLatin(word) && (isLatinLine || IS_LATIN.test(word))
    ? [...word].map((letter) => LATIN.get(letter) ?? letter).join('')
    : word;
