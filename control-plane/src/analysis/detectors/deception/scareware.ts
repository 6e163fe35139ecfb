import { type Observation, observationsOf } from '@adsweep/shared/capture/observations/index.ts';
import { isSound } from '../behaviors/interruptions.ts';
import { COPIES_OF_A_TRAP } from '../behaviors/navigation.ts';
import { type Detector, oneTag } from '../detector.ts';
import { isVendors } from './brands.ts';
import { extortionOf } from './extortion.ts';
import { countWords, saidOf } from './phrase.ts';
import { DETECTIONS, EXPIRED, THREATS, UNPROTECTED } from './scareware-phrases.ts';
import { ACT, CALL, FINE, STAY } from './scareware-pressure.ts';
import { type SeenPage, seenPages } from './seen-page.ts';

/** A displayed telephone number: nine digits or more, in groups. */
const TELEPHONE = /(?:\+|\(|\b)\d[\d\s().\-–]{7,20}\d\b/g;
/** Internet addresses and dates look alike. */
const OTHER_NUMBERS = /(?<![\d.])(?:\d{1,3}\.){3}\d{1,3}(?![\d.]*\d)|\b\d{4}-\d\d-\d\d\b/g;
const DIGITS_MIN = 9;
/** A threat that says how many viruses there are. */
const COUNTED =
  /\d[^\p{L}]{0,3}(?:virus|vírus|viren|wirus|вирус|вірус|trojan|malware|spyware|ウイルス|病毒|바이러스|ไวรัส|فيروس|वायरस)/u;
const QUOTE_LENGTH = 120;

/**
 * Pages that claim the visitor's device is infected or locked, or the visitor was recorded, and press the visitor to
 * call, install or pay.
 */
export const scareware: Detector<'documents'> = {
  name: 'scareware',
  needs: ['documents'],
  detect: ({ documents, observations }) =>
    oneTag(
      'scareware',
      seenPages(documents).flatMap((page) => {
        const quote = threatOf(page, observations) ?? extortionOf(page);
        return quote ? { landing: page.landing, text: `"${quote.slice(0, QUOTE_LENGTH)}"` } : [];
      }),
    ),
};

/** The claim of a page that presses its visitor to act; null if it does not, or is about such pages. */
function threatOf({ landing, url, title, own, ...page }: SeenPage, observations: Observation[]): string | null {
  if (isVendors(url)) return null;
  const holds = holdsVisitor(observations, landing);
  // No article holds its visitor.
  const text = holds ? page.text : own;
  const isExpired = saidOf(text, EXPIRED).length > 0;
  const threats = saidOf(text, isExpired ? [...THREATS, ...UNPROTECTED] : THREATS);
  const [threat] = threats;
  if (!threat) return null;
  const showsFindings =
    holds || isExpired || threats.some((one) => COUNTED.test(one)) || saidOf(text, DETECTIONS).length > 0;
  if (!showsFindings && offersRepair(text)) return null;
  const isUrgent = showsFindings || threats.length > 1 || saidOf(title, THREATS).length > 0;
  const presses =
    saidOf(text, STAY).length > 0 ||
    saidOf(text, FINE).length > 0 ||
    (hasTelephone(text) && saidOf(text, CALL).length > 0) ||
    (isUrgent && saidOf(text, ACT).length > 0);
  return presses ? threat : null;
}

/** What shops do with devices, and where and when. By language: English, German, French, Spanish and Portuguese, ... */
const REPAIRS = [
  ...['repair', 'data recovery', 'virus removal', 'reparier', 'reparatur', 'datenrettung', 'répar'],
  ...['dépannage', 'repara'],
  ...['consert', 'ripara', 'repareren', 'napraw', 'ремонт', 'чиним', 'tamir', 'onarim', '修理'],
];
const PREMISES = [
  ...['opening hours', 'business hours', 'our shop', 'our store', 'our workshop', 'öffnungszeiten'],
  ...['unserer werkstatt'],
  ...["heures d'ouverture", 'notre atelier', 'notre magasin', 'horario de', 'nuestra tienda', 'nuestro taller'],
  ...['horário de', 'nossa loja', 'nossa oficina', 'orari di apertura', 'il nostro negozio'],
  ...['openingstijden', 'onze winkel'],
  ...['godziny otwarcia', 'nasz serwis', 'режим работы', 'время работы', 'нашей мастерск'],
  ...['çalişma saatleri', '営業時間'],
];

/**
 * Whether a page is that of a shop that repairs devices: it says so, and where or when to bring them. What it says of a
 * device is no threat.
 */
const offersRepair = (text: string): boolean => countWords(text, REPAIRS, 1) > 0 && countWords(text, PREMISES, 1) > 0;

function hasTelephone(text: string): boolean {
  const numbers = text.replace(OTHER_NUMBERS, '|').matchAll(TELEPHONE);
  return numbers.some(([number]) => number.replace(/\D/g, '').length >= DIGITS_MIN);
}

/**
 * Whether a landing tried to keep its visitor: by dialogs, windows, sound, fullscreen, vibration or history entries.
 * Pure.
 */
function holdsVisitor(all: readonly Observation[], landing: number | null): boolean {
  const own = all.filter((one) => one.landing === landing);
  return (
    observationsOf(own, 'dialogs').length > 0 ||
    observationsOf(own, 'popups').some(({ facts }) => facts.without_gesture > 0) ||
    observationsOf(own, 'unprompted_call').some(({ facts }) => ['fullscreen', 'vibration'].includes(facts.demand)) ||
    observationsOf(own, 'autosound').some(isSound) ||
    observationsOf(own, 'back_button').some(({ facts }) => facts.copies >= COPIES_OF_A_TRAP)
  );
}
