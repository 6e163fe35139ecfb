import type { Brand } from '../brands.ts';

/** Words of buttons for the login of another site, and of the text around them. */
export const BY_ANOTHER = [
  'with ',
  'via ',
  'using ',
  'mit ',
  'avec ',
  ' con ',
  ' com ',
  'met ',
  ' or ',
  'with your',
  'через',
  'с помощью',
  'используя',
  'über ',
  'przez ',
  ' ile ',
  'hesabinizla',
  'hesabimla',
  'hesabiyla',
  'で続行',
  'でログイン',
  'でサインイン',
  'で登録',
  'アカウントで',
  'アカウントを使',
  '계정으로',
  'recaptcha',
  'connect',
  'link your',
  'import your',
  'never',
  'not ',
  'need a ',
  'requires a',
  // Products of a brand that other sites use.
  'authenticator',
  'google play',
  'google pay',
  'apple pay',
  'amazon pay',
];

/** Whether a line of a text has one of the words, and is not about the login of another site. */
export const mentions = ({ words }: Brand, text: string): boolean =>
  text
    .split('\n')
    .some((line) => !BY_ANOTHER.some((other) => line.includes(other)) && words.some((word) => hasWord(line, word)));

/** Whether a text has a word as a word, not as a part of another. Words are of letters, digits and spaces. */
export function hasWord(text: string, word: string): boolean {
  const [first = ''] = word.split(' ', 1);
  return (
    text.includes(first) &&
    ` ${text.replace(BETWEEN_SCRIPTS, ' ').replace(/[^\p{L}\p{N}]+/gu, ' ')} `.includes(` ${word} `)
  );
}

/** Where a word of Latin letters ends without a space: "Amazonサインイン". */
const BETWEEN_SCRIPTS =
  /(?<=[a-z\d])(?=[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Hang}])|(?<=[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Hang}])(?=[a-z])/gu;
