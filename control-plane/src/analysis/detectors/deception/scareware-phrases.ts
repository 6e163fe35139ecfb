import type { Phrase } from './phrase.ts';
import { MORE_DETECTIONS, MORE_THREATS } from './scareware-languages.ts';

/** Words that make a claim a question, a condition, advice or what somebody else says. */
const UNCERTAIN = [
  ...['?', 'if ', 'whether', 'when your', 'once your', 'ways to', 'may be', 'might', 'could', 'signs', 'sure '],
  ...['without ', 'claim that', 'claiming', 'say that', 'saying', 'tell you', 'telling you', 'pretend', 'behaupt'],
  ...['prétend', 'afirman', 'afirmam', 'dicono', 'sostengono', 'beweren', ' twierdz', 'утвержда'],
  ...['think', 'suspect', 'protect', 'how to', 'no virus', 'no threat', 'no malware', 'wenn', 'falls ', 'ob ihr'],
  ...['könnte', 'anzeichen', 'schütz', ' si votre', 'peut être', 'pourrait', 'protég', ' si su ', ' si tu '],
  ...['puede ', 'podría', 'proteg', 'se il tuo', 'potrebbe', 'protegg', ' se o seu', 'pode estar', 'als uw'],
  ...['als je', 'misschien', 'jeśli', 'może', 'если', 'может', 'eğer', 'olabilir', '場合', 'かも'],
];

const claim = (states: string[], things: string[], unless: string[] = []): Phrase => ({
  all: [states, things],
  unless: [...UNCERTAIN, ...unless],
});

/** Makes and models that kits insert into their claims: "Your Apple iPhone". */
const makesAfter = (...your: string[]): string[] =>
  your.flatMap((one) =>
    [
      'apple iphone',
      'apple ipad',
      'samsung',
      'xiaomi',
      'huawei',
      'motorola',
      'oppo',
      'vivo',
      'redmi',
      'oneplus',
      'realme',
    ]
      .concat('google pixel')
      .map((make) => `${one} ${make}`),
  );

const YOUR_DEVICE = [
  ...makesAfter('your'),
  ...['your computer', 'your pc', 'your device', 'your phone', 'your iphone', 'your android', 'your mac'],
  ...['your windows', 'this computer', 'your system', 'your browser', 'this pc', 'your battery', 'your sim'],
  ...['your chrome', 'your ipad', 'your galaxy', 'your laptop'],
  ...['your tablet', 'your smartphone', 'your mobile phone', 'your mobile device', 'your apple device'],
  ...['your cell phone'],
];
const IHR_GERAET = [
  ...makesAfter('ihr', 'dein'),
  ...['ihr computer', 'ihr pc', 'ihr gerät', 'ihr handy', 'dein handy', 'dein gerät', 'ihr system', 'ihr iphone'],
  ...['ihr windows', 'ihr browser', 'dieser computer', 'ihr smartphone', 'dein smartphone', 'dein iphone'],
  ...['ihr android', 'ihr mac', 'ihr laptop', 'dein computer', 'dein pc'],
  ...['diesen pc', 'diesen computer', 'diesem computer'],
];
const VOTRE_APPAREIL = [
  ...makesAfter('votre', 'ton'),
  ...['votre ordinateur', 'votre pc', 'votre appareil', 'votre téléphone', 'votre système', 'votre mac'],
  ...['votre windows', 'cet ordinateur', 'votre iphone', 'votre android', 'votre smartphone', 'votre mobile'],
  ...['ce pc'],
];
const SU_DISPOSITIVO = [
  ...makesAfter('su', 'tu', 'seu'),
  ...['su ordenador', 'su computadora', 'su equipo', 'su dispositivo', 'su teléfono', 'tu ordenador'],
  ...['tu dispositivo', 'tu teléfono', 'su pc', 'su iphone', 'tu iphone', 'su android', 'tu android', 'su celular'],
  ...['tu celular', 'su móvil', 'tu móvil', 'tu pc', 'seu computador', 'seu dispositivo', 'seu celular', 'seu pc'],
  ...['seu iphone', 'seu telefone', 'seu android', 'seu smartphone'],
  ...['este equipo', 'este ordenador', 'esta computadora', 'este pc', 'este computador'],
];
const IL_TUO_DISPOSITIVO = [
  ...makesAfter('il tuo', 'il suo'),
  ...['il tuo computer', 'il tuo dispositivo', 'il tuo telefono', 'il suo computer', 'il tuo pc', 'questo computer'],
  ...['il tuo iphone', 'il tuo android', 'il tuo smartphone', 'il tuo cellulare', 'il suo dispositivo'],
  ...['il suo telefono'],
  ...['questo pc'],
];
const UW_APPARAAT = [
  ...makesAfter('uw', 'je'),
  ...['uw computer', 'je computer', 'uw apparaat', 'je telefoon', 'uw pc', 'je apparaat', 'uw telefoon', 'uw iphone'],
  ...['je iphone', 'uw smartphone', 'je smartphone'],
  ...['deze computer', 'deze pc'],
];
const TWOJE_URZADZENIE = [
  ...makesAfter('twój'),
  ...['twój komputer', 'twoje urządzenie', 'twój telefon', 'ten komputer', 'twój iphone', 'twój smartfon'],
];
const VASHE_USTROYSTVO = [
  ...makesAfter('ваш'),
  ...['ваш компьютер', 'ваше устройство', 'ваш телефон', 'ваш пк', 'ваш браузер', 'ваш iphone', 'ваш смартфон'],
  ...['ваш android'],
  ...['этому компьютеру', 'этот компьютер'],
];
const CIHAZINIZ = ['bilgisayariniz', 'cihaziniz', 'telefonunuz', "iphone'unuz", 'bu bilgisayar'];
const O_TSUKAI = ['コンピュータ', 'パソコン', 'pc', 'デバイス', 'お使いの', 'スマートフォン', 'スマホ', 'iphone'];

const DEVICES = [...YOUR_DEVICE, ...IHR_GERAET];

/** "On your device": where something was found. */
const ON_DEVICE = [
  ...YOUR_DEVICE.flatMap((device) => [`on ${device}`, `in ${device}`]),
  ...['auf ihrem computer', 'auf ihrem pc', 'auf ihrem gerät', 'auf ihrem handy', 'auf ihrem iphone'],
  ...['auf ihrem smartphone', 'auf deinem handy', 'auf deinem gerät', 'auf deinem iphone', 'auf deinem smartphone'],
  ...['auf deinem computer'],
  ...VOTRE_APPAREIL.map((device) => `sur ${device}`),
  ...SU_DISPOSITIVO.flatMap((device) => [`en ${device}`, `no ${device}`, `em ${device}`]),
  ...['sul tuo computer', 'sul tuo dispositivo', 'sul tuo telefono', 'sul tuo pc', 'sul tuo iphone'],
  ...['sul tuo smartphone'],
  ...UW_APPARAAT.map((device) => `op ${device}`),
  ...['na twoim komputerze', 'na twoim urządzeniu', 'na twoim telefonie', 'na twoim iphone'],
  ...['на вашем компьютере', 'на вашем устройстве', 'на вашем телефоне', 'на вашем iphone', 'на вашем смартфоне'],
  ...['bilgisayarinizda', 'cihazinizda', 'telefonunuzda', "iphone'unuzda"],
];
/** What a program that finds viruses says of itself. */
const OF_A_PROGRAM = [
  ...['remov', 'delet', 'clean', 'eliminat', 'quarantin', 'block', ' any ', ' all ', 'every', 'when ', 'software'],
  ...['tool', 'scanner', 'history', 'entfern', 'lösch', 'bereinig', 'alle ', 'jede', 'supprim', 'nettoi', 'tous '],
  ...['tout ', 'elimin', 'cualquier', 'todos', 'qualquer', 'rimuov', 'tutti', 'qualsiasi', 'verwijder', 'usuw'],
  ...['wszystk', 'удал', 'любы', 'все ', 'temizle', 'herhangi'],
];

/**
 * What browsers refuse to honest pages, which then say so: "Notifications have been blocked in your browser", "Ihr
 * Browser blockiert Cookies".
 */
const REFUSED = [
  ...['cookie', 'javascript', 'notifications', 'location access', 'location is', 'location has', 'geolocation'],
  ...['microphone', 'camera', 'pop-up', 'popup', 'autoplay', 'ad block', 'adblock', 'storage', 'third-party'],
  ...['by your browser', 'by this browser', 'browser settings', 'benachrichtigung', 'standort', 'mikrofon', 'kamera'],
  ...['werbe', 'werbung', 'drittanbieter', 'wiedergabe', 'publicité', 'fenêtres', 'notificaciones', 'publicidad'],
  ...['emergentes', 'notificações', 'notifiche', 'meldingen', 'reklam', 'powiadomie', 'ciasteczk', 'уведомлен'],
  ...[
    'всплывающ',
    'куки',
    'геолокац',
    'çerez',
    'bildirim',
    'クッキー',
    'ポップアップ',
    '広告',
    '通知',
    '位置情報',
    'カメラ',
  ],
  ...['マイク'],
];
/**
 * Who locks a device besides: a network that sold it, an owner who lost it or forgot its code, parents, an employer;
 * and a holder that it is in.
 */
const OF_OTHERS = [
  ...['screen time', 'time is up', 'parental', 'child', 'your administrator', 'your organization', 'your organisation'],
  ...['locked in '],
  ...['passcode', ' wrong ', 'incorrect', 'itunes', 'falsch ein', 'falsche pin', 'falsches passwort', 'erroné'],
  ...['incorret', 'errat', 'onjuist', 'błędn', 'неверн', 'yanliş'],
  ...[' pin ', ' puk', 'your carrier', 'a carrier', 'to a network', 'to one network', 'network operator'],
  ...['samsung account', 'samsung-konto', 'compte samsung', 'cuenta samsung', 'xiaomi account', 'huawei id'],
  ...['lost or stolen', 'netzbetreiber', 'opérateur', 'operador', 'operatore', 'mobile operator', 'оператор'],
  ...['operatör', 'キャリア'],
];
const lock = (states: string[], things: string[]): Phrase => claim(states, things, [...REFUSED, ...OF_OTHERS]);

/** "Your device is infected", or locked. By language: English, German, French, Spanish and Portuguese, ... */
export const THREATS: readonly Phrase[] = [
  claim(
    [
      ...['is infected', 'been infected', 'been hacked', 'been compromised', 'is at risk', 'viruses on', 'virus on'],
      ...['severely', 'is corrupted'],
    ],
    YOUR_DEVICE,
    ['kills', 'bacteria', 'germs'],
  ),
  {
    all: [
      ['tracked by a hacker', 'tracked by hackers', 'controlled by a hacker'],
      ['the device', ...YOUR_DEVICE],
    ],
    unless: UNCERTAIN,
  },
  lock(['is locked', 'been locked', 'been blocked', 'is blocked', 'been disabled', 'been suspended'], YOUR_DEVICE),
  claim(['infiziert', 'gehackt', 'viren gefunden'], IHR_GERAET),
  lock(['gesperrt', 'blockiert'], IHR_GERAET),
  claim(['infecté', 'piraté'], VOTRE_APPAREIL),
  lock(['bloqué', 'verrouillé'], VOTRE_APPAREIL),
  claim(['infectad', 'hackead', 'comprometid'], SU_DISPOSITIVO),
  lock(['bloquead'], SU_DISPOSITIVO),
  claim(['infett', 'hackerat'], IL_TUO_DISPOSITIVO),
  lock(['bloccat'], IL_TUO_DISPOSITIVO),
  claim(['geïnfecteerd', 'besmet', 'gehackt'], UW_APPARAAT),
  lock(['geblokkeerd', 'vergrendeld'], UW_APPARAAT),
  claim(['zainfekowan', 'zarażon'], TWOJE_URZADZENIE),
  lock(['zablokowan'], TWOJE_URZADZENIE),
  claim(['заражен', 'заражён', 'взломан'], VASHE_USTROYSTVO),
  lock(['заблокирован'], VASHE_USTROYSTVO),
  claim(['virüs bulaş', 'tehlikede'], CIHAZINIZ),
  lock(['kilitlendi', 'engellendi'], CIHAZINIZ),
  claim(['感染しました', '感染しています', '検出されました'], O_TSUKAI),
  lock(['ロックされ', 'ブロックされ'], O_TSUKAI),
  // Repair shops speak of damaged devices too.
  {
    all: [
      [
        'damaged',
        'beschädigt',
        'endommagé',
        'dañad',
        'danificad',
        'danneggiat',
        'beschadigd',
        'uszkodzon',
        'повреждён',
        'поврежден',
      ],
      ['virus', 'vírus', 'malware', 'adware', 'trojan', 'spyware', 'viren', 'wirus', 'вирус'],
      [
        ...[YOUR_DEVICE, IHR_GERAET, VOTRE_APPAREIL, SU_DISPOSITIVO, IL_TUO_DISPOSITIVO, UW_APPARAAT].flat(),
        ...[TWOJE_URZADZENIE, VASHE_USTROYSTVO].flat(),
      ],
    ],
    unless: UNCERTAIN,
  },
  {
    all: [
      ON_DEVICE,
      ['virus', 'vírus', 'malware', 'trojan', 'spyware', 'viren', 'schadsoftware', 'wirus', 'вирус', 'virüs'],
      [
        ...['detected', 'found', 'gefunden', 'erkannt', 'entdeckt', 'détecté', 'trouvé', 'detectad', 'encontrad'],
        ...['rilevat', 'trovat', 'gevonden', 'gedetecteerd', 'wykryt', 'znalezion', 'обнаружен', 'найден'],
        ...['tespit edildi', 'bulundu'],
      ],
    ],
    unless: [...UNCERTAIN, ...OF_A_PROGRAM],
  },
  ...MORE_THREATS,
];

/** How much a product finds, and where. */
const STATISTICS = ['daily', ' day', 'per month', 'million', 'billion', 'worldwide', 'customers', 'businesses'];

/** "Your McAfee subscription has expired", and what it is said to mean: neither is a threat by itself. */
export const EXPIRED: readonly Phrase[] = [
  claim(
    [
      'expired',
      'abgelaufen',
      'expiré',
      'caducad',
      'vencid',
      'expirou',
      'scadut',
      'verlopen',
      'wygasł',
      'истек',
      'истёк',
    ],
    ['mcafee', 'norton', 'avast', 'antivirus', 'kaspersky', 'bitdefender', 'totalav', 'антивирус'],
  ),
];
export const UNPROTECTED: readonly Phrase[] = [
  {
    all: [
      ['is unprotected', 'is not protected', 'is no longer protected', 'ist ungeschützt', 'nicht mehr geschützt'],
      DEVICES,
    ],
    unless: UNCERTAIN.filter((word) => !['protect', 'schütz'].includes(word)),
  },
];

/** "A virus was found". It makes a threat more urgent and is none by itself: articles about illnesses say the same. */
export const DETECTIONS: readonly Phrase[] = [
  claim(
    ['virus', 'trojan', 'spyware', 'malware', 'threats', 'adware', 'pornographic'],
    ['detected', 'found (', 'were found', 'been found', 'viruses found'],
    STATISTICS,
  ),
  claim(['viren', 'virus', 'trojaner', 'bedrohungen'], ['gefunden', 'erkannt', 'entdeckt']),
  claim(['virus', 'cheval de troie', 'logiciel espion', 'menaces'], ['détecté', 'trouvé']),
  claim(['virus', 'vírus', 'troyano', 'amenazas', 'ameaças'], ['detectado', 'encontrado', 'detectadas']),
  claim(['virus', 'trojan', 'minacce'], ['rilevat', 'trovat']),
  claim(['вирус', 'троян'], ['обнаружен', 'найден']),
  ...EXPIRED,
  ...MORE_DETECTIONS,
];
