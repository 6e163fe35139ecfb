import type { CapturedBody } from '@adsweep/shared/capture/artifacts.ts';
import { type Observation, observationsOf } from '@adsweep/shared/capture/observations/index.ts';
import { type Detector, oneTag } from '../detector.ts';
import { inlineScripts, isScript } from './malicious-script.ts';
import { HUMAN } from './paste-to-run.ts';
import { type Phrase, saidOf } from './phrase.ts';
import { asRead, type SeenPage, seenPages } from './seen-page.ts';

/** The button of a browser's permission prompt. By language: English, German, French, Spanish and Portuguese, ... */
const ALLOW = asRead([
  ...['allow', 'zulassen', 'erlauben', 'autoriser', 'permitir', 'consenti', 'toestaan', 'zezwól', 'zezwalaj'],
  ...['разрешить', 'дозволити', 'izin ver', '許可', 'tillåt', 'tillad', 'tillat', 'salli', 'povolit'],
  ...['permite', 'engedélyez'],
  ...['επιτρέπεται', 'izinkan', 'cho phép', 'อนุญาต', 'السماح', 'अनुमति', '허용', '允许', '允許'],
]);
const PRESS = asRead([
  ...['click', 'press', 'tap ', 'hit ', 'type ', 'choose ', 'select ', 'klick', 'drück', 'tipp', 'cliqu', 'appuy'],
  ...['haz clic', 'pulsa', 'pulse', 'toca'],
  ...['clic', 'premi', 'klik', 'naciśnij', 'нажми', 'жми', 'tikla', 'dokun', 'クリック', 'タップ', '押'],
  ...['tryck', 'tryk', 'trykk', 'paina', 'apas', 'kattints', 'κλικ', 'натисн', 'nhấn', 'nhấp', 'bấm'],
  ...['คลิก', 'แตะ', 'انقر', 'اضغط'],
  ...['क्लिक', '클릭', '누르', '点击', '點擊', '点按', '按'],
]);
/** What a permission to send notifications opens nowhere. */
const PROMISES = asRead([
  ...['proceed', 'access the', 'access this', 'to access', 'to play', 'to start', 'unlock', 'accéder', 'acceder'],
  ...['acessar', 'accedere', 'доступ'],
  ...['watch', 'video', 'download', 'continue', 'close this', 'over 18', '18+', '18 years', 'prize', 'weiter'],
  ...['fortzufahren', 'herunterlad', 'continuer', 'télécharg', 'regarder', 'continuar', 'descarg', 'baixar'],
  ...['assistir', 'continuare', 'scaricar', 'guardare', 'doorgaan', 'kontynuow', 'pobra', 'продолж', 'скача'],
  ...['смотр', 'devam', 'indirme', 'izle', '続行', 'ダウンロード', '動画'],
  ...['melanjutkan', 'menonton', 'mengunduh', 'tiếp tục', 'để xem', 'tải xuống', 'ดำเนินการต่อ', 'เพื่อดู', 'ดาวน์โหลด'],
  ...[
    'للمتابعة',
    'للاستمرار',
    'لمشاهدة',
    'لتنزيل',
    'जारी रखने',
    'देखने',
    'डाउनलोड',
    '계속하',
    '계속하려면',
    '시청하',
    '다운로드',
  ],
  ...[
    '继续',
    '繼續',
    '观看',
    '觀看',
    '下载',
    '下載',
    'pokračov',
    'fortsätt',
    'fortsæt',
    'fortsett',
    'jatka',
    'folytat',
  ],
  ...['continua', 'συνεχίσ', 'συνέχεια', 'продовж'],
]);
/** What honest pages ask the permission for, and other permissions. */
const HONEST = asRead([
  ...['notif', 'alert', 'news', 'update', 'offer', 'remind', 'receiv', 'benachrichtig', 'erhalten', 'recevoir'],
  ...['recibir', 'receber', 'ricever', 'ontvang', 'melding', 'otrzym', 'powiadom', 'получ', 'уведомл', 'bildirim'],
  ...['通知', 'camera', 'caméra', 'cámara', 'câmera', 'kamera', 'microphone', 'micrófono', 'microfone', 'microfono'],
  ...['mikrofon', 'location', 'standort', 'ubicación', 'localização', 'posizione', 'cookie', 'popup', 'pop-up'],
  ...['sound', 'audio', 'autoplay', 'files', 'motion', 'sensor', 'bluetooth', 'contacts', 'photos', 'clipboard'],
  ...['personali', 'your consent', 'selection', 'coupon', 'discount', '% off', 'informier', 'informé', 'nachricht'],
  ...['neuigkeit', 'angebot', 'actualité', 'noticia', 'novedad', 'notícia', 'novidade', 'ofert', 'offert', 'notizie'],
  ...['novità', 'nieuws'],
  // Videos of others, which are loaded when the visitor allows it.
  ...[
    'youtube',
    'vimeo',
    'embedded',
    'external',
    'third part',
    'privacy',
    'consent to',
    'extern',
    'datenschutz',
    'einwillig',
  ],
  ...['personenbezogen', 'données', 'privacidad', 'datos personales', 'dati personali', 'prywatnoś', 'персональн'],
  ...['aanbieding', 'wiadomoś', 'новост', 'haberler', 'ニュース'],
  ...[
    'pemberitahuan',
    'notifikasi',
    'berita',
    'kamera',
    'mikrofon',
    'lokasi',
    'thông báo',
    'tin tức',
    'vị trí',
    'แจ้งเตือน',
    'ข่าว',
    'ตำแหน่ง',
  ],
  ...[
    'กล้อง',
    'إشعار',
    'الإشعارات',
    'الأخبار',
    'الكاميرا',
    'الموقع الجغرافي',
    'सूचना',
    'नोटिफ',
    'समाचार',
    'कैमरा',
    '알림',
    '뉴스',
  ],
  ...[
    '카메라',
    '마이크',
    '위치',
    '新闻',
    '新聞',
    '消息',
    '摄像',
    '攝影',
    '麦克风',
    '麥克風',
    '位置',
    'oznámen',
    'upozorn',
    'värsl',
    'avisering',
  ],
  ...['meddelels', 'underret', 'varsl', 'ilmoitu', 'értesít', 'notific', 'ειδοποι', 'сповіщ', 'новин'],
]);
const LURES: readonly Phrase[] = [
  { all: [ALLOW, PRESS, HUMAN], unless: ["don't", 'do not', 'never', 'cookie'] },
  { all: [ALLOW, PRESS, PROMISES], unless: HONEST },
];

const ASKS = /requestPermission|pushManager/;
/** Libraries ask for other permissions too, such as for the sensors. */
const ASKS_TO_NOTIFY = /Notification\W{1,3}requestPermission|pushManager/;

/**
 * Pages that want the permission to send notifications for another reason, such as to prove to be human: "Click Allow
 * to confirm that you are not a robot".
 */
export const pushLure: Detector<'documents' | 'bodies'> = {
  name: 'push_lure',
  needs: ['documents', 'bodies'],
  detect: ({ documents, observations, bodies }) =>
    oneTag(
      'push_lure',
      seenPages(documents).flatMap((page) => {
        const [said] = saidOf(saidBy(page), LURES);
        return said && asksForPermission(page, observations, bodies)
          ? { landing: page.landing, text: `"${said}", and the permission to notify is requested` }
          : [];
      }),
    ),
};

/** A page of fewer characters is only the lure, whose sentence may have several lines. */
const LENGTH_OF_LURE = 500;
const saidBy = ({ text, own }: SeenPage): string => (text.length <= LENGTH_OF_LURE ? own.replaceAll('\n', ' ') : own);

/** Whether a page has requested the permission, or a script in it or in a file may do so, such as after a click. */
function asksForPermission(
  { landing, html }: SeenPage,
  observations: readonly Observation[],
  bodies: readonly CapturedBody[],
): boolean {
  const calls = observationsOf(observations, 'unprompted_call').filter((one) => one.landing === landing);
  return (
    calls.some(({ facts }) => ['notifications', 'push'].includes(facts.demand)) ||
    html.some((one) => ASKS.test(one) && inlineScripts(one).some((script) => ASKS.test(script))) ||
    bodies.some((body) => isScript(body) && ASKS_TO_NOTIFY.test(body.text ?? ''))
  );
}
