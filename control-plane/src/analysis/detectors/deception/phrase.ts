/**
 * A statement that a sentence makes if it contains one word of each group of `all` and none of `unless`, with any words
 * in between. Words are in lower case (by `lowerCase`, so with i for ı) and may be parts of words. The rarest group
 * comes first: the text is searched for its words.
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
  ...['cybercrim', 'phishing', 'unsuspecting'],
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
/** Single words of warning occur anywhere. */
const WARNINGS_MIN = 2;
/** Lines with a warning, each near the next one, that make an article of themselves and all lines between them. */
const LINES_OF_ARTICLE_MIN = 3;
const GAP_MAX = 600;
/** Characters on either side of a warning that its line is read: a page may have one line only. */
const LINE_REACH = 300;

/** A text whose own words are a smaller share is about deception. */
const OWN_SHARE_MIN = 0.25;
/** Characters at the beginning of a page in which an article names its subject again. */
const BEGINNING_LENGTH = 500;
const WARNINGS_OF_TITLED_MIN = 3;

/**
 * What a text (from `readableText`) says in its own name: the text without what it reports of deception. '' if that
 * leaves a quarter or less, as of an article, or if its title, its beginning below that and another place name
 * deception. `title`: the first line of the text, '' = it has none. Pure; takes linear time.
 */
export function ownWords(text: string, title: string): string {
  const isTitled =
    countWords(title, WARNINGS, 1) > 0 &&
    countWords(text.slice(title.length, title.length + BEGINNING_LENGTH), WARNINGS, 1) > 0 &&
    countWords(text, WARNINGS, WARNINGS_OF_TITLED_MIN) >= WARNINGS_OF_TITLED_MIN;
  if (isTitled) return '';
  const own = withoutReports(text);
  return own.length <= text.length * OWN_SHARE_MIN ? '' : own;
}

/**
 * A text (from `readableText`) without the lines and passages in which it reports deception. A warning in small print
 * takes away its own line and nothing else. Pure; takes linear time.
 */
export function withoutReports(text: string): string {
  const warnings = warningsIn(text);
  if (warnings.length < WARNINGS_MIN) return text;
  let [own, at] = ['', 0];
  for (const { from, to } of reportsIn(text, warnings)) {
    own += text.slice(at, from);
    at = to;
  }
  return own + text.slice(at);
}

type Span = { from: number; to: number };

/** Where the words of warning are in a text, in order. */
const warningsIn = (text: string): number[] =>
  WARNINGS.flatMap((word) => {
    const places: number[] = [];
    for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + word.length)) places.push(at);
    return places;
  }).sort((a, b) => a - b);

/**
 * The lines that report deception; of an article all from the line before its first one to the line after its last one.
 * In order, none overlaps another.
 */
function reportsIn(text: string, warnings: readonly number[]): Span[] {
  const lines = merged(warnings.map((warning) => lineAt(text, warning)));
  const passages: Span[][] = [];
  for (const line of lines) {
    const passage = passages.at(-1);
    if (passage && line.from - passage.at(-1)!.to <= GAP_MAX) passage.push(line);
    else passages.push([line]);
  }
  const spans = passages.map((passage) => {
    if (passage.length < LINES_OF_ARTICLE_MIN) return passage;
    const before = lineAt(text, Math.max(0, passage[0]!.from - 1));
    const after = lineAt(text, passage.at(-1)!.to + 1);
    return [{ from: before.from, to: after.to }];
  });
  return merged(spans.flat());
}

/** Spans in order, without those that overlap another. */
const merged = (spans: readonly Span[]): Span[] =>
  spans.reduce<Span[]>((all, { from, to }) => {
    const last = all.at(-1);
    if (last && from <= last.to) last.to = Math.max(last.to, to);
    else all.push({ from, to });
    return all;
  }, []);

/** The line of a place, as far as it is read. */
function lineAt(text: string, at: number): Span {
  const before = text.slice(Math.max(0, at - LINE_REACH), at);
  const after = text.slice(at, at + LINE_REACH);
  const end = after.indexOf('\n');
  return { from: at - before.length + before.lastIndexOf('\n') + 1, to: at + (end < 0 ? after.length : end) };
}
