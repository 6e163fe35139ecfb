import { BRANDS, type Brand } from '../brands.ts';
import { hasWord } from './brand-mentions.ts';

/**
 * Ways to pay that the checkout of a shop lists beside an account such as "PayPal Konto", by their kinds. By language:
 * English, German, French, ...
 */
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

/** Returns whether a brand is listed among the ways to pay by a form with this text. Pure. */
export function waysToPayIn(text: string, asksForCard: boolean): (brand: Brand) => boolean {
  const isCheckout = WAYS_TO_PAY.filter((ways) => ways.some((way) => hasWord(text, way))).length >= OTHER_WAYS_MIN;
  return (brand) => PAYS.has(brand.name) && (isCheckout || (asksForCard && isChoice(brand, text)));
}

/** Whether a form names the brand in a line of its own, next to one with another way to pay. */
const isChoice = ({ words }: Brand, text: string): boolean => {
  const lines = text.split('\n').flatMap((line) => line.trim() || []);
  return lines.some(
    (line, at) => words.includes(line) && [at - 1, at + 1].some((next) => LINES_OF_CHOICE.has(lines[next] ?? '')),
  );
};
