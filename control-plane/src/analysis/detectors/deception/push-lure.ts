import { type Observation, observationsOf } from '@adsweep/shared/capture/observations/index.ts';
import type { Detector } from '../detector.ts';
import { oneTag } from '../detector.ts';
import { inlineScripts } from './malicious-script.ts';
import { HUMAN } from './paste-to-run.ts';
import { discusses, type Phrase, saidOf } from './phrase.ts';
import { type SeenPage, seenPages } from './seen-page.ts';

/** The button of a browser's permission prompt. By language: English, German, French, Spanish and Portuguese, ... */
const ALLOW = [
  ...['allow', 'zulassen', 'erlauben', 'autoriser', 'permitir', 'consenti', 'toestaan', 'zezwól', 'zezwalaj'],
  ...['разрешить', 'дозволити', 'izin ver', '許可', 'tillåt', 'tillad', 'tillat', 'salli', 'povolit'],
  ...['permite', 'engedélyez'],
  ...['επιτρέπεται', 'izinkan', 'cho phép', 'อนุญาต', 'السماح', 'अनुमति', '허용', '允许', '允許'],
];
const PRESS = [
  ...['click', 'press', 'tap ', 'hit ', 'type ', 'choose ', 'select ', 'klick', 'drück', 'tipp', 'cliqu', 'appuy'],
  ...['haz clic', 'pulsa', 'pulse', 'toca'],
  ...['clic', 'premi', 'klik', 'naciśnij', 'нажми', 'жми', 'tikla', 'dokun', 'クリック', 'タップ', '押'],
  ...['tryck', 'tryk', 'trykk', 'paina', 'apas', 'kattints', 'κλικ', 'натисн', 'nhấn', 'nhấp', 'bấm'],
  ...['คลิก', 'แตะ', 'انقر', 'اضغط'],
  ...['क्लिक', '클릭', '누르', '点击', '點擊', '点按', '按'],
];
/** What a permission to send notifications opens nowhere. */
const PROMISES = [
  ...['proceed', 'access the', 'access this', 'to access', 'to play', 'to start', 'unlock', 'accéder', 'acceder'],
  ...['acessar', 'accedere', 'доступ'],
  ...['watch', 'video', 'download', 'continue', 'close this', 'over 18', '18+', '18 years', 'prize', 'weiter'],
  ...['fortzufahren', 'herunterlad', 'continuer', 'télécharg', 'regarder', 'continuar', 'descarg', 'baixar'],
  ...['assistir', 'continuare', 'scaricar', 'guardare', 'doorgaan', 'kontynuow', 'pobra', 'продолж', 'скача'],
  ...['смотр', 'devam', 'indirme', 'izle', '続行', 'ダウンロード', '動画'],
];
/** What honest pages ask the permission for, and other permissions. */
const HONEST = [
  ...['notif', 'alert', 'news', 'update', 'offer', 'remind', 'receiv', 'benachrichtig', 'erhalten', 'recevoir'],
  ...['recibir', 'receber', 'ricever', 'ontvang', 'melding', 'otrzym', 'powiadom', 'получ', 'уведомл', 'bildirim'],
  ...['通知', 'camera', 'caméra', 'cámara', 'câmera', 'kamera', 'microphone', 'micrófono', 'microfone', 'microfono'],
  ...['mikrofon', 'location', 'standort', 'ubicación', 'localização', 'posizione', 'cookie', 'popup', 'pop-up'],
  ...['sound', 'audio', 'autoplay', 'files', 'motion', 'sensor', 'bluetooth', 'contacts', 'photos', 'clipboard'],
  ...['personali', 'your consent', 'selection', 'coupon', 'discount', '% off', 'informier', 'informé', 'nachricht'],
  ...['neuigkeit', 'angebot', 'actualité', 'noticia', 'novedad', 'notícia', 'novidade', 'ofert', 'offert', 'notizie'],
  ...['novità', 'nieuws'],
  ...['aanbieding', 'wiadomoś', 'новост', 'haberler', 'ニュース'],
];
const LURES: readonly Phrase[] = [
  { all: [ALLOW, PRESS, HUMAN], unless: ["don't", 'do not', 'never', 'cookie'] },
  { all: [ALLOW, PRESS, PROMISES], unless: HONEST },
];

const ASKS = /requestPermission|pushManager/;

/**
 * Pages that want the permission to send notifications for another reason, such as to prove to be human: "Click Allow to confirm that you are not
 * a robot".
 */
export const pushLure: Detector<'documents'> = {
  name: 'push_lure',
  needs: ['documents'],
  detect: ({ documents, observations }) =>
    oneTag(
      'push_lure',
      seenPages(documents).flatMap((page) => {
        const [said] =
          asksForPermission(page, observations) && !discusses(page.text) ? saidOf(saidBy(page), LURES) : [];
        return said ? { landing: page.landing, text: `"${said}", and the permission to notify is requested` } : [];
      }),
    ),
};

/** A page of fewer characters is only the lure, whose sentence may have several lines. */
const LENGTH_OF_LURE = 500;
const saidBy = ({ text }: SeenPage): string => (text.length <= LENGTH_OF_LURE ? text.replaceAll('\n', ' ') : text);

/** Whether a page has requested the permission, or has a script that does. */
function asksForPermission({ landing, html }: SeenPage, observations: readonly Observation[]): boolean {
  const calls = observationsOf(observations, 'unprompted_call').filter((one) => one.landing === landing);
  return (
    calls.some(({ facts }) => ['notifications', 'push'].includes(facts.demand)) ||
    html.some((one) => ASKS.test(one) && inlineScripts(one).some((script) => ASKS.test(script)))
  );
}
