import type { ObservationOf } from '@adsweep/shared/capture/observations/index.ts';
import { BRANDS, type Brand, type brandsOf, isOwn } from '../brands.ts';
import { isAboutDeception, readableText, type SeenPage } from '../seen-page.ts';
import { claimsAccount, OPENED, RESTRICTED } from './account-claim.ts';
import { asksForSecrets } from './asked-fields.ts';
import { hasWord, mentions } from './brand-mentions.ts';
import { isTitleOf } from './brand-title.ts';
import { waysToPayIn } from './ways-to-pay.ts';

/** Brands by whose accounts other sites let visitors sign in, by buttons with their names and pictures. */
const LOGINS = new Set(['Google', 'Facebook', 'Apple', 'Microsoft', 'LinkedIn', 'Amazon', 'Yahoo', 'Discord', 'Steam']);
/** Wallets by which they do so as well; a form for the phrase of a wallet is no login. */
const WALLETS = new Set(['MetaMask', 'Trust Wallet', 'Coinbase', 'Binance', 'Ledger', 'Phantom', 'Exodus']);
/** Brands of cards that banks issue, and whose holders have their accounts with them. */
const ISSUED = new Set(['Mastercard', 'American Express']);
/** Brands whose accounts shops fill up for money: "Steam account", beside the number of a card. */
const FILLED_UP = new Set(['Steam', 'Roblox', 'Netflix', 'Spotify', 'Apple']);
/** Brands whose accounts honest forms ask for as a contact, beside a password of their own: "Telegram account". */
const CONTACTS = new Set(['Facebook', 'Instagram', 'WhatsApp', 'Telegram', 'LinkedIn', 'Discord', 'TikTok', 'eBay']);
/** What is said of a code by which a site makes sure of an address, beside the name of the mailbox. */
const SENT = [
  ...['sent', 'inbox', 'mailbox', 'gesendet', 'geschickt', 'postfach', 'envoyé', 'enviado', 'inviato', 'gestuurd'],
  ...['wysłan', 'отправ', 'gönder', '送信'],
];
/** A line between the own login and such buttons. */
const OR = /^[-–—\s]*(or|oder|ou|o|of|lub|или|veya|または)[-–—\s]*$/mu;

/** The brand that a form claims to belong to, in words; null: its own site. */
export function impersonates(
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
  const isCodeOnly = fields.every((field) => field === 'one_time_code');
  const isWayToPay = waysToPayIn(said, fields.includes('card_number'));
  for (const brand of BRANDS) {
    if (isOwn(brand, form.url) || isOwn(brand, page.url)) continue;
    // The title alone says whose page it is, also above the bank's own footer with its warnings of scams.
    if (isTitleOf(brand, page.title)) return `in the name of ${brand.name}`;
    if (isAbout) continue;
    const isPayment = isWayToPay(brand) || ISSUED.has(brand.name);
    const isButton = isPayment || (mayBeLogin && isLogin(brand));
    const isPaidFor = isPayment || (mayFillUp && FILLED_UP.has(brand.name));
    const isMailbox = isCodeOnly && (LOGINS.has(brand.name) || CONTACTS.has(brand.name));
    const opened = isPaidFor ? RESTRICTED : isButton || CONTACTS.has(brand.name) ? OPENED : null;
    if (claimsAccount(brand, said, opened, isMailbox ? SENT : [])) return `in the name of ${brand.name}`;
    const isShown =
      (!isButton && owners.has(brand) && mentions(brand, said)) ||
      (signIns.has(brand) && namesSignIn(brand, page.text));
    if (isShown) return `with a picture of ${brand.name}'s`;
  }
  return null;
}

/** Whether a text has words of the brand's sign-in page. */
const namesSignIn = (brand: Brand, text: string): boolean =>
  mentions(brand, text) || brand.signIn.words.some((word) => hasWord(text, word));
