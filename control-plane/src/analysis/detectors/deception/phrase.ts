/**
 * A statement that a sentence makes if it contains one word of each group of `all` and none of `unless`, with any words in between. Words are
 * in lower case (by `lowerCase`, so with i for ı) and may be parts of words. The rarest group comes first: the text is searched for its words.
 */
export type Phrase = { all: readonly (readonly string[])[]; unless?: readonly string[] };

/** The longest part of a sentence that is read on either side of a word, in characters. */
const REACH = 160;
/** The most occurrences of one word that are read: a page that repeats it says nothing new. */
const PLACES_MAX = 50;
/** The point in a number, such as that of a version, ends no sentence. */
const SENTENCE_END = /[!?。！？؟।\n]|(?<!\d)\.|\.(?!\d)/g;

/** The sentence of `text` (from `readableText`) that says `phrase`; null: none does. Pure; takes linear time. */
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

/** The sentences that say one of `phrases`. */
export const saidOf = (text: string, phrases: readonly Phrase[]): string[] => [
  ...new Set(phrases.flatMap((phrase) => findPhrase(text, phrase) ?? [])),
];

/** How often `words` occur together, counted up to `most`. */
export function countWords(text: string, words: readonly string[], most: number): number {
  let count = 0;
  for (const word of words)
    for (let at = text.indexOf(word); at >= 0 && count < most; at = text.indexOf(word, at + word.length)) count += 1;
  return count;
}

/** The sentence of a word, with the character that ends it. */
function sentenceAt(text: string, at: number, length: number): string {
  const before = text.slice(Math.max(0, at - REACH), at);
  const after = text.slice(at + length, at + length + REACH);
  const begin = before.length - [...before.matchAll(SENTENCE_END)].reduce((_, { index }) => index + 1, 0);
  const end = after.search(SENTENCE_END);
  return text.slice(at - begin, end < 0 ? at + length + after.length : at + length + end + 1);
}

/** Words of texts that warn of deception. */
const WARNINGS = [
  ...['scam', 'scareware', 'fake ', 'hoax', 'malvertising', 'social engineering', 'clickfix', 'impersonat'],
  ...['betrug', 'betrüg', 'masche', 'gefälscht', 'falsche ', 'arnaque', 'escroquer', 'faux ', 'fausse'],
  ...['estafa', 'engaño', 'falso', 'falsa', 'truffa', 'raggiro', 'golpe ', 'golpista', 'oplicht', 'nep-', 'neppe'],
  ...['oszust', 'fałszyw', 'мошенни', 'поддельн', 'фальшив', 'dolandirici', 'sahte ', '詐欺', '偽'],
  ...['bedrägeri', 'bluff', 'svindel', 'svindl', 'falsk ', 'falska', 'huijau', 'huijar', 'podvod', 'falešn'],
  ...[
    'falošn',
    'înșel',
    'escroc',
    'csaló',
    'csalás',
    'átver',
    'απάτη',
    'απατε',
    'шахра',
    'penipu',
    'lua đao',
    'gia mao',
  ],
  ...[
    'หลอกลวง',
    'มิจฉาชีพ',
    'احتيال',
    'محتال',
    'مزيف',
    'הונאה',
    'מזויפ',
    'फर्जी',
    'धोखाधड',
    '사칭',
    '가짜',
    '사기꾼',
    '사기 수법',
  ],
  ...['诈骗', '詐騙', '骗局', '騙局', '钓鱼', '釣魚', '假冒'],
  // News reports tell of those who were deceived.
  ...[
    'victims',
    'opfer ',
    'victimes',
    'víctimas',
    'vítimas',
    'vittime',
    'slachtoffers',
    'ofiary',
    'жертвы',
    'жертвам',
    '被害者',
  ],
];
const WARNINGS_MIN = 2;

/** Whether a text (from `readableText`) is about deception: an article, a warning, a documentation. Pure. */
export const discusses = (text: string): boolean => countWords(text, WARNINGS, WARNINGS_MIN) >= WARNINGS_MIN;
