import { BRANDS, type Brand } from '../brands.ts';
import { findPhrase } from '../phrase.ts';
import { BY_ANOTHER, hasWord } from './brand-mentions.ts';

/** Words for an account and its secrets in a form. */
const OWNED = [
  'account',
  'password',
  'konto',
  'passwort',
  'compte',
  'mot de passe',
  'cuenta',
  'contraseña',
  'sua conta',
  'conta da',
  'senha',
  'password',
  'hesab',
  'аккаунт',
  'пароль',
  'アカウント',
  'wallet',
];
/** What phishing wants to be done with such an account, and no form that asks for a contact. */
export const OPENED = [
  ...['password', 'log in', 'login', 'log into', 'sign in', 'verif', 'confirm', 'secur', 'recover', 'restor', 'unlock'],
  ...['disab', 'suspend', 'restrict', 'violat', 'passwort', 'anmeld', 'einlogg', 'bestätig', 'gesperrt'],
  ...['mot de passe'],
  ...['connexion', 'connectez', 'vérifi', 'contraseña', 'iniciar', 'inicia ', 'acced', 'senha', 'entrar', 'entre '],
  ...['inlog'],
  ...['zalog', 'пароль', 'войти', 'войдите', 'вход', 'подтверд', 'giriş', 'şifre', 'パスワード', 'ログイン'],
];
/**
 * What phishing says of an account, and no checkout, which has words such as "security code" and "confirm the order"
 * too.
 */
export const RESTRICTED = [
  ...[
    'suspend',
    'restrict',
    'limited',
    'unlock',
    'disabled',
    'violat',
    'recover',
    'restore',
    'gesperrt',
    'eingeschränkt',
  ],
  ...['entsperr', 'suspendu', 'limité', 'bloqué', 'débloqu', 'bloquead', 'limitad', 'sospes', 'bloccat', 'geblokkeerd'],
  ...[
    'on hold',
    'verify your',
    'update your payment',
    'beperkt',
    'zablokowan',
    'заблокирован',
    'ограничен',
    'kisitlan',
    'askiya',
    '制限され',
    '停止され',
  ],
];

/** Stands for the name of a brand in a text: a letter of no language. */
const NAMED = '\u{1d7ca}';

/** The words that name brands, each as a word of its own. */
const NAMES = new Map(
  BRANDS.flatMap(({ words }) =>
    words.map(
      (word) => [word, new RegExp(`(?<![\\p{sc=Latin}\\p{N}])${word}(?![\\p{sc=Latin}\\p{N}])`, 'gu')] as const,
    ),
  ),
);

/**
 * Whether a form asks for the account that a visitor has with the brand. `opened`: words of what is to be done with it,
 * one of which must be there because the form may only have a button with that name, to sign in or to pay; null: none
 * must. A form that names other brands beside it asks for none of them, unless it wants something to be done with the
 * account. `unless`: a sentence with one of these words does not count.
 */
export const claimsAccount = (
  { name, words }: Brand,
  text: string,
  opened: readonly string[] | null,
  unless: readonly string[] = [],
): boolean =>
  words.some((word) => {
    if (!text.includes(word)) return false;
    // The name of a brand may have such words itself: "Trust Wallet".
    const all = [[NAMED], OWNED, ...(opened ? [opened] : [])];
    const sentence = findPhrase(text.replace(NAMES.get(word) ?? word, NAMED), {
      all,
      unless: [...BY_ANOTHER, ...unless],
    });
    if (sentence === null) return false;
    const namesOthers = BRANDS.some(
      (other) => other.name !== name && other.words.some((one) => hasWord(sentence, one)),
    );
    return !namesOthers || OPENED.some((one) => sentence.includes(one));
  });
