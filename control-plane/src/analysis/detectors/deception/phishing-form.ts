import type { CapturedBody } from '@adsweep/shared/capture/artifacts.ts';
import type { NetworkRequest } from '@adsweep/shared/capture/network-request.ts';
import type { FormField } from '@adsweep/shared/capture/observations/content.ts';
import { type ObservationOf, observationsOf } from '@adsweep/shared/capture/observations/index.ts';
import { type Detector, oneTag } from '../detector.ts';
import { BRANDS, type Brand, brandsOf, isOwn } from './brands.ts';
import { inlineScripts, isScript } from './malicious-script.ts';
import { pretextOf } from './phishing-lures.ts';
import { findPhrase } from './phrase.ts';
import { isAboutDeception, readableText, type SeenPage, seenPages } from './seen-page.ts';

/** Fields that only the owner of an account should ask for. */
const SECRETS: readonly FormField[] = [
  'password',
  'card_number',
  'card_code',
  'one_time_code',
  'seed_phrase',
  'personal_id',
];
/** Those that open something. Honest forms without a server of their own ask for the number of an identity card. */
const KEYS: readonly FormField[] = SECRETS.filter((field) => field !== 'personal_id');
/**
 * Words of a title that name no brand: the rest is the name that the page claims. By language: English, German, French,
 * Spanish, ...
 */
const NAMELESS = new Set(
  (
    'sign in log on login logon signin to your the my a an of for and with account accounts secure security verify verification verified ' +
    'confirm confirmation update online customer center centre portal page welcome official id password web app mail email support help ' +
    'bank banking wallet billing payment home international service services com tracking track delivery redelivery package parcel shipment required unusual activity restore unlock ' +
    'anmelden anmeldung einloggen konto ihr dein bei kunden sicherheit bestätigen willkommen ' +
    'connexion se connecter votre compte mon à bienvenue sécurité iniciar sesión su tu cuenta acceder inicio bienvenido ' +
    'de sendung sendungsverfolgung paket zustellung lieferung zoll zahlung suivi colis livraison paiement seguimiento paquete envío entrega pago ' +
    'spedizione pacco consegna pagamento rastreamento encomenda pagamento pakket zending bezorging betaling przesyłka paczka reschedule fee trace ' +
    'accedi accesso il tuo conto al entrar sua conta no na acesso inloggen uw mijn bij rekening zaloguj się do lub konto вход войти в или аккаунт ' +
    'giriş yap yapın veya ログイン サインイン にログイン アカウント 登录 登入 登錄 账号 帳號 로그인 계정 ' +
    'or up into enter continue register create new personal private internet manage access identity e status address pending results alert ' +
    'oder registrieren sie sich ein loggen mein meine inicia inicie regístrate crear o ou u connectez vous ' +
    'identifiez inscrivez accéder mes comptes espace client personnel particuliers'
  ).split(' '),
);
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
/** Brands whose accounts honest forms ask for as a contact, beside a password of their own: "Telegram account". */
const CONTACTS = new Set(['Facebook', 'Instagram', 'WhatsApp', 'Telegram', 'LinkedIn', 'Discord', 'TikTok', 'eBay']);
/** What phishing wants to be done with such an account, and no form that asks for a contact. */
const OPENED = [
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
const RESTRICTED = [
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
/** Words of buttons for the login of another site, and of the text around them. */
const BY_ANOTHER = [
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
/** Brands by whose accounts other sites let visitors sign in, by buttons with their names and pictures. */
const LOGINS = new Set(['Google', 'Facebook', 'Apple', 'Microsoft', 'LinkedIn', 'Amazon', 'Yahoo', 'Discord', 'Steam']);
/** Wallets by which they do so as well; a form for the phrase of a wallet is no login. */
const WALLETS = new Set(['MetaMask', 'Trust Wallet', 'Coinbase', 'Binance', 'Ledger', 'Phantom', 'Exodus']);
/** Brands of cards that banks issue, and whose holders have their accounts with them. */
const ISSUED = new Set(['Mastercard', 'American Express']);
/** Brands whose accounts shops fill up for money: "Steam account", beside the number of a card. */
const FILLED_UP = new Set(['Steam', 'Roblox', 'Netflix', 'Spotify', 'Apple']);
/** Ways to pay that the checkout of a shop lists beside an account such as "PayPal Konto", by their kinds. By language: English, German, French, ... */
const WAYS_TO_PAY: readonly (readonly string[])[] = [
  [
    ...['credit card', 'debit card', 'kreditkarte', 'carte bancaire', 'carte de crédit'],
    ...['tarjeta de crédito', 'creditcard'],
    ...['cartão de crédito', 'carta di credito', 'karta kredytowa', 'банковская карта', 'kredi kart'],
    ...['クレジットカード'],
  ],
  [
    'invoice',
    'rechnung',
    'facture',
    'fattura',
    'klarna',
    'raten',
    'afterpay',
    'clearpay',
    'instalments',
    'installments',
  ],
  [
    'bank transfer',
    'vorkasse',
    'überweisung',
    'virement',
    'transferencia',
    'transferência',
    'bonifico',
    'przelew',
    'havale',
  ],
  ['direct debit', 'lastschrift', 'prélèvement', 'sofort', 'giropay', 'ideal', 'bancontact', 'blik', 'boleto', 'pix'],
  [
    'cash on delivery',
    'nachnahme',
    'contre remboursement',
    'contra reembolso',
    'contrassegno',
    'kapida ödeme',
    '代金引換',
  ],
  ['apple pay', 'google pay', 'amazon pay'],
];
const OTHER_WAYS_MIN = 2;
/** Brands by whose accounts shops are paid. */
const PAYS = new Set([
  'PayPal',
  'Amazon',
  'American Express',
  'Mastercard',
  'Coinbase',
  'Binance',
  'Revolut',
  'Klarna',
  'Venmo',
  'Cash App',
]);
/** Cards, as the lines of a choice between ways to pay name them. By language: English, German, French, Spanish, ... */
const CARDS = [
  ...['card', 'cards', 'credit or debit card', 'credit/debit card', 'debit or credit card', 'visa', 'karte'],
  ...['kredit- oder debitkarte', 'debitkarte', 'carte', 'carte de débit', 'tarjeta', 'tarjeta de crédito o débito'],
  ...['tarjeta de débito', 'cartão', 'carta', 'kaart', 'karta', 'карта', 'kart', 'カード'],
];
const LINES_OF_CHOICE: ReadonlySet<string> = new Set([
  ...[...CARDS, ...WAYS_TO_PAY.flat()],
  ...BRANDS.filter(({ name }) => PAYS.has(name)).flatMap(({ words }) => words),
]);
/** A line between the own login and such buttons. */
const OR = /^[-–—\s]*(or|oder|ou|o|of|lub|или|veya|または)[-–—\s]*$/mu;
/** Endpoints for forms without a server of their own. No honest login uses them. */
const COLLECTORS =
  /^https?:\/\/(api\.telegram\.org\/bot|(discord|discordapp)\.com\/api\/webhooks\/|formspree\.io\/|formsubmit\.co\/|getform\.io\/|script\.google\.com\/macros\/|webhook\.site\/|hooks\.zapier\.com\/|api\.web3forms\.com\/|submit-form\.com\/|formcarry\.com\/|usebasin\.com\/|formbold\.com\/|api\.staticforms\.xyz\/|forms\.un-static\.com\/|[\w-]+\.m\.pipedream\.net\/)/i;
const COLLECTOR_IN_SCRIPT =
  /api\.telegram\.org\/bot|(?:discord|discordapp)\.com\/api\/webhooks\/|webhook\.site\/[\w-]{8}/gi;
/** Services for the forms of sites without a server, whose contact forms honest pages have too: a script must send secrets there. */
const FORM_SERVICE_IN_SCRIPT =
  /formspree\.io\/f\/|api\.web3forms\.com\/|formsubmit\.co\/|getform\.io\/|submit-form\.com\/|api\.emailjs\.com\/|script\.google\.com\/macros\/s\//gi;
const REACH_TO_SERVICE = 600;
/** A longer script is a bundle, which contains everything somewhere: there the endpoint counts with the words of secrets within so many characters. */
const SCRIPT_OF_PAGE_MAX = 20_000;
const REACH = 3_000;
/** Endpoints of one script that are looked at: a script that repeats them says nothing new. */
const PLACES_MAX = 100;
const SECRET_WORDS = /passw|passwd|pwd|\bpass\b|\botp\b|cvv|cvc|seed|mnemonic/i;
/** Event handlers in HTML that a browser serialised. */
const HANDLERS = /\son[a-z]+="([^"]*)"/g;

/**
 * Forms that ask for secrets in the name of a brand on a site that is not its own, or that send them to an endpoint for
 * form data.
 */
export const phishingForm: Detector<'documents' | 'requests' | 'bodies'> = {
  name: 'phishing_form',
  needs: ['documents', 'requests', 'bodies'],
  detect({ documents, observations, requests, bodies }) {
    const forms = observationsOf(observations, 'form').filter(({ facts }) => asksForAccount(facts));
    const pages = seenPages(documents).filter(({ landing }) => forms.some((form) => form.landing === landing));
    const collectors = new Map(pages.map((page) => [page.landing, collectorIn(page, bodies)]));
    const pictured = new Map(pages.map(({ landing }) => [landing, brandsOf(picturesOf(landing, requests))]));
    const signOf = (form: ObservationOf<'form'>): string | null => {
      const { landing, facts } = form;
      if (facts.fields.some((field) => KEYS.includes(field))) {
        if (COLLECTORS.test(facts.action_url)) return `sent to ${URL.parse(facts.action_url)?.host}`;
        const collector = collectors.get(landing);
        if (collector) return `with a script that sends to ${collector}`;
      }
      const page = pages.find((one) => one.landing === landing);
      const shown = pictured.get(landing);
      if (!page || !shown) return null;
      const claim = impersonates(form, page, shown);
      if (claim) return claim;
      const pretext = pretextOf(facts.fields, page);
      return pretext && `under the pretext "${pretext}"`;
    };
    return oneTag(
      'phishing_form',
      forms.flatMap((form) => {
        const sign = signOf(form);
        const { landing, url, facts } = form;
        return sign === null ? [] : { landing, text: `${facts.fields.join(' and ')} at ${url}, ${sign}` };
      }),
    );
  },
};

type Form = ObservationOf<'form'>['facts'];
const asksForSecrets = ({ fields }: Form): boolean => fields.some((field) => SECRETS.includes(field));
/** Many sign-in pages ask for the identifier first, and for the password in the next step. */
const asksForAccount = (form: Form): boolean => asksForSecrets(form) || form.fields.includes('identifier');

/**
 * The messenger endpoint that a script of the landing posts form data to; null: none. What a page only shows, such as
 * code in a forum, does not run.
 */
function collectorIn(page: SeenPage, bodies: CapturedBody[]): string | null {
  const { html } = page;
  const isAbout = isAboutDeception(page);
  // Few pages name an endpoint, and only these are read for what runs.
  const ofPage = html
    .filter((one) => one.search(COLLECTOR_IN_SCRIPT) >= 0 || one.search(FORM_SERVICE_IN_SCRIPT) >= 0)
    .flatMap((one) => [...inlineScripts(one), ...[...one.matchAll(HANDLERS)].map(([, code = '']) => code)]);
  const loaded = bodies.filter((body) => isScript(body) || (body.excerpts && !isAbout));
  const scripts = [
    ...ofPage.map((script) => ({ script, length: script.length })),
    ...loaded.map((body) => ({ script: body.text ?? body.excerpts ?? '', length: body.bytes })),
  ];
  for (const { script, length } of scripts) {
    const found = collectorOf(script, length);
    if (found) return found;
  }
  return null;
}

/** The endpoint that a script, or its excerpts, sends to. `length`: that of the whole script. */
function collectorOf(script: string, length: number): string | null {
  for (const { 0: found, index } of script.matchAll(COLLECTOR_IN_SCRIPT).take(PLACES_MAX)) {
    const around = script.slice(Math.max(0, index - REACH), index + REACH);
    if (length <= SCRIPT_OF_PAGE_MAX || SECRET_WORDS.test(around)) return found;
  }
  if (length > SCRIPT_OF_PAGE_MAX) return null;
  for (const { 0: found, index } of script.matchAll(FORM_SERVICE_IN_SCRIPT).take(PLACES_MAX)) {
    const around = script.slice(Math.max(0, index - REACH_TO_SERVICE), index + REACH_TO_SERVICE);
    if (SECRET_WORDS.test(around)) return found;
  }
  return null;
}

/** The brand that a form claims to belong to, in words; null: its own site. */
function impersonates(
  form: ObservationOf<'form'>,
  page: SeenPage,
  { owners, signIns }: ReturnType<typeof brandsOf>,
): string | null {
  const said = asksForSecrets(form.facts) ? readableText(form.facts.text) : '';
  const isAbout = isAboutDeception(page);
  const { fields } = form.facts;
  const isLogin = ({ name }: Brand) => LOGINS.has(name) || (WALLETS.has(name) && !fields.includes('seed_phrase'));
  const mayBeLogin = OR.test(said) || BRANDS.filter((brand) => isLogin(brand) && mentions(brand, said)).length > 1;
  const mayFillUp = fields.includes('card_number') && !fields.includes('password');
  const isCheckout = WAYS_TO_PAY.filter((ways) => ways.some((way) => hasWord(said, way))).length >= OTHER_WAYS_MIN;
  for (const brand of BRANDS) {
    if (isOwn(brand, form.url) || isOwn(brand, page.url)) continue;
    // The title alone says whose page it is, also above the bank's own footer with its warnings of scams.
    if (isTitleOf(brand, page.title)) return `in the name of ${brand.name}`;
    if (isAbout) continue;
    const isWayToPay =
      PAYS.has(brand.name) && (isCheckout || (fields.includes('card_number') && isChoice(brand, said)));
    const isButton = isWayToPay || ISSUED.has(brand.name) || (mayBeLogin && isLogin(brand));
    const isPaidFor = isWayToPay || ISSUED.has(brand.name) || (mayFillUp && FILLED_UP.has(brand.name));
    const opened = isPaidFor ? RESTRICTED : isButton || CONTACTS.has(brand.name) ? OPENED : null;
    if (claims(brand, said, opened)) return `in the name of ${brand.name}`;
    const isShown =
      (!isButton && owners.has(brand) && mentions(brand, said)) ||
      (signIns.has(brand) && namesSignIn(brand, page.text));
    if (isShown) return `with a picture of ${brand.name}'s`;
  }
  return null;
}

/** Whether a form names the brand in a line of its own, next to one with another way to pay. */
const isChoice = ({ words }: Brand, text: string): boolean => {
  const lines = text.split('\n').flatMap((line) => line.trim() || []);
  return lines.some(
    (line, at) => words.includes(line) && [at - 1, at + 1].some((next) => LINES_OF_CHOICE.has(lines[next] ?? '')),
  );
};

/** Whether a title names the brand and nothing else. */
function isTitleOf({ words }: Brand, title: string): boolean {
  const own = words.find((word) => hasWord(title, word));
  if (!own) return false;
  const rest = words.reduce((left, word) => left.replaceAll(word, ' '), title).split(/[^\p{L}\p{N}]+/u);
  return rest.every((word) => word === '' || NAMELESS.has(word) || /^\d+$/.test(word));
}

/**
 * Whether a form asks for the account that a visitor has with the brand. `opened`: words of what is to be done with it,
 * one of which must be there because the form may only have a button with that name, to sign in or to pay; null: none
 * must. A form that names other brands beside it asks for none of them, unless it wants something to be done with the
 * account.
 */
const claims = ({ name, words }: Brand, text: string, opened: readonly string[] | null): boolean =>
  words.some((word) => {
    if (!text.includes(word)) return false;
    // The name of a brand may have such words itself: "Trust Wallet".
    const all = [[NAMED], OWNED, ...(opened ? [opened] : [])];
    const sentence = findPhrase(text.replace(NAMES.get(word) ?? word, NAMED), { all, unless: BY_ANOTHER });
    if (sentence === null) return false;
    const namesOthers = BRANDS.some(
      (other) => other.name !== name && other.words.some((one) => hasWord(sentence, one)),
    );
    return !namesOthers || OPENED.some((one) => sentence.includes(one));
  });

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

/** Whether a line of a text has one of the words, and is not about the login of another site. */
const mentions = ({ words }: Brand, text: string): boolean =>
  text
    .split('\n')
    .some((line) => !BY_ANOTHER.some((other) => line.includes(other)) && words.some((word) => hasWord(line, word)));

/** Whether a text has words of the brand's sign-in page. */
const namesSignIn = (brand: Brand, text: string): boolean =>
  mentions(brand, text) || brand.signIn.words.some((word) => hasWord(text, word));

/** Paths of pixels that count visits, and of buttons for payment that shops embed. */
const PIXELS = /\/(tr|ts|px|pixel|collect|event|events|log|beacon|pagead|ads|batch|i\/(btn|scr))(\/|\.gif|\.php|$)/i;
/** A picture of less than this has only one pixel, in bytes. */
const PICTURE_BYTES_MIN = 100;

const picturesOf = (landing: number | null, requests: readonly NetworkRequest[]): string[] =>
  requests.filter((one) => one.landing === landing && isPicture(one)).map(({ url }) => url);

/** Whether a request loaded something to look at. */
const isPicture = ({ resource_type, url, status_code, content_type, body_size }: NetworkRequest): boolean =>
  resource_type === 'image' &&
  status_code !== 204 &&
  !(content_type.startsWith('image/') && body_size < PICTURE_BYTES_MIN) &&
  !PIXELS.test(URL.parse(url)?.pathname ?? '');

/** Whether a text has a word as a word, not as a part of another. Words are of letters, digits and spaces. */
function hasWord(text: string, word: string): boolean {
  const [first = ''] = word.split(' ', 1);
  return (
    text.includes(first) &&
    ` ${text.replace(BETWEEN_SCRIPTS, ' ').replace(/[^\p{L}\p{N}]+/gu, ' ')} `.includes(` ${word} `)
  );
}

/** Where a word of Latin letters ends without a space: "Amazonサインイン". */
const BETWEEN_SCRIPTS =
  /(?<=[a-z\d])(?=[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Hang}])|(?<=[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Hang}])(?=[a-z])/gu;
