import type { CapturedLanding } from '@adsweep/shared/capture/capture.ts';
import { MONEY } from '@adsweep/shared/capture/money.ts';
import { type Observation, type ObservationOf, observationsOf } from '@adsweep/shared/capture/observations/index.ts';
import { type Detector, oneTag, type Sign } from '../detector.ts';
import { type Phrase, saidOf } from './phrase.ts';
import { readableText, type SeenPage, seenPages } from './seen-page.ts';

/**
 * "Every 14 days", "every two weeks", as traps bill their trials. By language: English, German, French, Spanish and
 * Portuguese, ...
 */
const EVERY_FEW = [
  '(?<!\\p{L})(?:every|alle|tous les|toutes les|cada|ogni|elke|co|каждые|her)',
  '(?:\\p{N}{1,3}|two|zwei|deux|dos|dois|duas|due|twee|dwa|две|iki)',
  '(?:days|weeks|tage|wochen|jours|semaines|d[ií]as|semanas|giorni|settimane|dagen|weken|dni|tygodni|дн|недел|gün|hafta)',
].join(' ');

/**
 * Words of recurring prices, no part of others such as "about" or "TV/monitor". By language: English, German, French,
 * Spanish, ...
 */
const RECURRING = new RegExp(
  [
    '(?:/ ?|per |a |every )(?:week|month)|/ ?(?:wk|mo|day)(?![a-z])|per day|weekly|monthly|daily|auto-?renew|renews|renewal',
    'subscription|/ ?woche|pro woche|wöchentlich|/ ?monat|pro monat|monatlich|pro tag|(?<!\\p{L})abos?(?!\\p{L})',
    'verlängert sich|par semaine|/ ?semaine|par mois|/ ?mois|par jour|abonnement|hebdomadaire|por semana|/ ?semana|semanal',
    'al mes(?!\\p{L})|/ ?mes(?!\\p{L})|mensual|al día|suscripci|por mês|/ ?mês|por dia|assinatura|a settimana|/ ?settimana',
    'al mese|/ ?mese(?!\\p{L})|abbonamento|per maand|/ ?maand|tygodniowo|miesięcznie|dziennie|subskrypcj|в неделю|в месяц',
    'в день(?! рожд)|подписк|haftalik|aylik|günlük|abonelik|اشتراك|يوميا|أسبوعيا|月額|週額',
    // Where operators bill subscriptions with the telephone; Vietnamese as `readableText` folds it.
    '/ ?(?:hari|minggu|bulan|ngày|tuan|tháng|วัน|สัปดาห์|เดือน|يوم|أسبوع|شهر|दिन|주|월|天|周|週|月)|per ?hari|sehari|setiap (?:hari|minggu)',
    'moi (?:ngày|tuan|tháng)|(?:ต่อ|ทุก)(?:วัน|สัปดาห์|เดือน)|في اليوم|كل (?:يوم|أسبوع)|شهريا|प्रति ?(?:दिन|सप्ताह|माह)|매[일주월]|每[天日周週月]|langganan',
    `${EVERY_FEW}|\\p{N}日ごと|fortnight`,
  ].join('|'),
  'u',
);
/** "You are now subscribed". */
const SUBSCRIBED: readonly Phrase[] = [
  {
    all: [
      [
        'you are now subscribed',
        'you have been subscribed',
        'subscription is active',
        'subscription has been activated',
        'subscription confirmed',
        'successfully subscribed',
      ],
    ],
    unless: ['?', 'if ', 'newsletter'],
  },
  {
    all: [
      [
        'abo ist aktiv',
        'abonnement ist aktiv',
        'abo wurde aktiviert',
        'erfolgreich abonniert',
        'abonnement est activé',
        'abonnement est actif',
        'vous êtes maintenant abonné',
      ],
    ],
    unless: ['?', 'newsletter'],
  },
  {
    all: [
      [
        'suscripción está activa',
        'suscripción activada',
        'te has suscrito',
        'se ha suscrito',
        'assinatura ativada',
        'assinatura está ativa',
        'abbonamento attivato',
        'abbonamento è attivo',
        'подписка активирована',
        'подписка оформлена',
        'aboneliğiniz aktif',
      ],
    ],
    unless: ['?', 'newsletter', 'boletín'],
  },
];
/** Smaller or paler text is illegible on a phone (WCAG asks for a contrast of 4.5). */
const FONT_PX_MIN = 9;
const CONTRAST_MIN = 1.8;
const DIGIT = /\d/;

/** Pages that hide a recurring price, preselect it, or order a subscription without a click. */
export const forcedSubscription: Detector<'documents'> = {
  name: 'forced_subscription',
  needs: ['documents'],
  detect({ observations, landings, documents }) {
    const pages = seenPages(documents);
    return oneTag('forced_subscription', [
      ...hiddenPrices(observations, pages),
      ...preselected(observations),
      ...orderedByMessage(observations),
      ...landings.flatMap((landing) => orderedByItself(landing, pages)),
    ]);
  },
};

/** Landings with a recurring price, none of which is legible. */
function hiddenPrices(observations: Observation[], pages: SeenPage[]): Sign[] {
  const recurring = observationsOf(observations, 'price').filter(({ facts }) => recurs(facts.text));
  return [...Map.groupBy(recurring, ({ landing }) => landing)].flatMap(([landing, prices]) => {
    const [price] = prices;
    const page = pages.find((one) => one.landing === landing);
    if (!price || !page || prices.some(isReadable)) return [];
    const { text, font_px, contrast } = price.facts;
    return { landing, text: `"${text}" in letters of ${font_px} pixels, with a contrast of ${contrast.toFixed(1)}` };
  });
}

const isReadable = ({ facts }: ObservationOf<'price'>): boolean =>
  facts.in_page && facts.font_px >= FONT_PX_MIN && facts.contrast >= CONTRAST_MIN;

const preselected = (observations: Observation[]): Sign[] =>
  observationsOf(observations, 'preselected')
    .filter(({ facts: { label } }) => recurs(label) && MONEY.test(label) && DIGIT.test(label) && !isMailing(label))
    .map(({ landing, facts }) => ({ landing, text: `ticked: "${facts.label}"` }));

/** What is sent to those who tick a box, such as offers. */
const MAILED = [
  ...['deal', 'offer', 'newsletter', 'e-mail', 'email', 'bargain', 'voucher', 'coupon', 'tips', 'angebot'],
  ...['schnäppchen'],
  ...['gutschein', 'offre', 'bons plans', "bon d'achat", 'oferta', 'boletín', 'cupón', 'cupom', 'promoç'],
  ...['offert', 'sconti'],
  ...['buono', 'aanbieding', 'kortingsbon', 'okazj', 'kupon', 'скидк', 'предложени', 'рассылк', 'firsat'],
  ...['indirim', 'クーポン'],
];
const AMOUNT = '(?:[€$£¥₹₽₺₩₴฿₫₦] ?\\p{N}[\\p{N}.,]*|\\p{N}[\\p{N}.,]* ?(?:[€$£¥₹₽₺₩₴฿₫₦]|\\p{L}{2,7}))';
/**
 * An amount that is nobody's price: a limit or a discount, such as "under $10" or "5 € Gutschein", and not "under $10 a
 * week".
 */
const NO_PRICE = new RegExp(
  [
    "(?<!\\p{L})(?:under|below|less than|up to|save|worth|unter|bis zu|spare|moins de|jusqu'à|menos de|hasta|até|meno di|fino a",
    `|onder|tot|poniżej|do|до)(?: (?:a|de|di))? ${AMOUNT}(?![\\p{L}\\p{N}]|[.,]\\p{N}| ?(?:${RECURRING.source}))`,
    `|${AMOUNT}[ -](?:off|or less|voucher|coupon|discount|[\\p{L}-]*gutschein|rabatt|de (?:réduction|remise|descuento|desconto)|di sconto|korting)`,
  ].join(''),
  'giu',
);

/** Whether the label of a ticked box is about mails alone, and names no price. */
const isMailing = (label: string): boolean =>
  MAILED.some((word) => readableText(label).includes(word)) && !MONEY.test(label.replace(NO_PRICE, ''));

/** A text message to a short number can order a subscription on the phone bill. */
const orderedByMessage = (observations: Observation[]): Sign[] =>
  [
    ...observationsOf(observations, 'auto_redirect').map(({ landing, facts }) => ({ landing, to: facts.to })),
    ...observationsOf(observations, 'popups').flatMap(({ landing, facts }) =>
      facts.without_gesture > 0 ? facts.urls.map((to) => ({ landing, to })) : [],
    ),
  ]
    .filter(({ to }) => /^sms(to)?:/i.test(to))
    .map(({ landing, to }) => ({ landing, text: `navigated to ${to.slice(0, 100)}` }));

/** A form that the page submitted by itself, after which it says that the visitor is subscribed. */
function orderedByItself({ ord, redirect_chain }: CapturedLanding, pages: SeenPage[]): Sign[] {
  const text = pages.find(({ landing }) => landing === ord)?.text ?? '';
  const [said] = redirect_chain.some(({ kind }) => kind === 'form') ? saidOf(text, SUBSCRIBED) : [];
  return said ? [{ landing: ord, text: `a form was sent without a click, then "${said}"` }] : [];
}

const recurs = (text: string): boolean => RECURRING.test(readableText(text));
