import type { Phrase } from './phrase.ts';

/** Words that make a claim a question, a condition or advice. */
const UNCERTAIN = [
  ...[
    '?',
    'if ',
    'whether',
    'when your',
    'once your',
    'ways to',
    'may be',
    'might',
    'could',
    'signs',
    'sure ',
    'think',
    'suspect',
    'protect',
    'how to',
    'no virus',
    'no threat',
    'no malware',
  ],
  ...['wenn', 'falls ', 'ob ihr', 'könnte', 'anzeichen', 'schütz', ' si votre', 'peut être', 'pourrait', 'protég'],
  ...[
    ' si su ',
    ' si tu ',
    'puede ',
    'podría',
    'proteg',
    'se il tuo',
    'potrebbe',
    'protegg',
    ' se o seu',
    'pode estar',
  ],
  ...['als uw', 'als je', 'misschien', 'jeśli', 'może', 'если', 'может', 'eğer', 'olabilir', '場合', 'かも'],
];

const claim = (states: string[], things: string[], unless: string[] = []): Phrase => ({
  all: [states, things],
  unless: [...UNCERTAIN, ...unless],
});

const YOUR_DEVICE = [
  ...[
    'your computer',
    'your pc',
    'your device',
    'your phone',
    'your iphone',
    'your android',
    'your mac',
    'your windows',
  ],
  ...[
    'this computer',
    'your system',
    'your browser',
    'this pc',
    'your battery',
    'your sim',
    'your chrome',
    'your ipad',
  ],
  ...['your samsung', 'your galaxy', 'your xiaomi', 'your huawei', 'your laptop', 'your tablet', 'your smartphone'],
];
const IHR_GERAET = [
  ...['ihr computer', 'ihr pc', 'ihr gerät', 'ihr handy', 'dein handy', 'dein gerät', 'ihr system', 'ihr iphone'],
  ...['ihr windows', 'ihr browser', 'dieser computer'],
];

/** What browsers refuse to honest pages, which then say so: "Notifications have been blocked in your browser", "Ihr Browser blockiert Cookies". */
const REFUSED = [
  ...['cookie', 'javascript', 'notifications', 'location access', 'location is', 'location has', 'geolocation'],
  ...['microphone', 'camera', 'pop-up', 'popup', 'autoplay', 'ad block', 'adblock', 'storage', 'third-party'],
  ...['benachrichtigung', 'standort', 'mikrofon', 'kamera', 'werbe', 'werbung', 'drittanbieter', 'wiedergabe'],
];

/** "Your device is infected", or locked. By language: English, German, French, Spanish, ... */
export const THREATS: readonly Phrase[] = [
  claim(
    [
      ...['is infected', 'been infected', 'been hacked', 'been compromised', 'is at risk', 'viruses on', 'virus on'],
      ...['severely', 'is corrupted'],
    ],
    YOUR_DEVICE,
  ),
  // Repair shops speak of damaged devices too.
  { all: [['damaged'], ['virus', 'malware', 'adware', 'trojan', 'spyware'], YOUR_DEVICE], unless: UNCERTAIN },
  claim(
    ['is locked', 'been locked', 'been blocked', 'is blocked', 'been disabled', 'been suspended'],
    YOUR_DEVICE,
    REFUSED,
  ),
  claim(['infiziert', 'gesperrt', 'gehackt', 'beschädigt', 'viren gefunden'], IHR_GERAET),
  claim(['blockiert'], IHR_GERAET, REFUSED),
  claim(
    ['infecté', 'bloqué', 'verrouillé', 'piraté', 'endommagé'],
    [
      'votre ordinateur',
      'votre pc',
      'votre appareil',
      'votre téléphone',
      'votre système',
      'votre mac',
      'votre windows',
      'cet ordinateur',
    ],
  ),
  claim(
    ['infectad', 'bloquead', 'hackead', 'dañad', 'comprometid'],
    [
      'su ordenador',
      'su computadora',
      'su equipo',
      'su dispositivo',
      'su teléfono',
      'tu ordenador',
      'tu dispositivo',
      'tu teléfono',
      'su pc',
      'seu computador',
      'seu dispositivo',
      'seu celular',
      'seu pc',
    ],
  ),
  claim(
    ['infett', 'bloccat', 'hackerat', 'danneggiat'],
    ['il tuo computer', 'il tuo dispositivo', 'il tuo telefono', 'il suo computer', 'il tuo pc', 'questo computer'],
  ),
  claim(
    ['geïnfecteerd', 'besmet', 'geblokkeerd', 'vergrendeld', 'gehackt'],
    ['uw computer', 'je computer', 'uw apparaat', 'je telefoon', 'uw pc', 'je apparaat'],
  ),
  claim(
    ['zainfekowan', 'zablokowan', 'zarażon'],
    ['twój komputer', 'twoje urządzenie', 'twój telefon', 'ten komputer'],
  ),
  claim(
    ['заражен', 'заражён', 'заблокирован', 'взломан', 'повреждён', 'поврежден'],
    ['ваш компьютер', 'ваше устройство', 'ваш телефон', 'ваш пк', 'ваш браузер'],
  ),
  claim(['virüs bulaş', 'kilitlendi', 'engellendi', 'tehlikede'], ['bilgisayariniz', 'cihaziniz', 'telefonunuz']),
  claim(
    ['感染しました', '感染しています', 'ロックされ', 'ブロックされ', '検出されました'],
    ['コンピュータ', 'パソコン', 'pc', 'デバイス', 'お使いの'],
  ),
];

/** "A virus was found". It makes a threat more urgent and is none by itself: articles about illnesses say the same. */
export const DETECTIONS: readonly Phrase[] = [
  claim(
    ['virus', 'trojan', 'spyware', 'malware', 'threats', 'adware', 'pornographic'],
    ['detected', 'found (', 'were found', 'been found', 'viruses found'],
  ),
  claim(['viren', 'virus', 'trojaner', 'bedrohungen'], ['gefunden', 'erkannt', 'entdeckt']),
  claim(['virus', 'cheval de troie', 'logiciel espion', 'menaces'], ['détecté', 'trouvé']),
  claim(['virus', 'vírus', 'troyano', 'amenazas', 'ameaças'], ['detectado', 'encontrado', 'detectadas']),
  claim(['virus', 'trojan', 'minacce'], ['rilevat', 'trovat']),
  claim(['вирус', 'троян'], ['обнаружен', 'найден']),
];

/** "Do not close or restart". */
export const STAY: readonly Phrase[] = [
  {
    all: [
      ['do not', "don't", 'never'],
      [
        'close this',
        'close the',
        'shut down',
        'restart',
        'turn off',
        'ignore this',
        'ignore the',
        'leave this page',
        'use your computer',
        'press the back',
      ],
    ],
  },
  {
    all: [
      ['nicht', 'keinesfalls'],
      [
        'herunterfahren',
        'neu starten',
        'ausschalten',
        'fenster schließen',
        'schließen sie dieses',
        'ignorieren',
        'neustarten',
      ],
    ],
  },
  {
    all: [
      ['ne fermez pas', "n'éteignez pas", 'ne redémarrez pas', "n'ignorez pas", 'ne pas éteindre', 'ne pas fermer'],
    ],
  },
  {
    all: [
      ['no cierre', 'no apague', 'no reinicie', 'no ignore', 'não feche', 'não desligue', 'não reinicie', 'não ignore'],
    ],
  },
  {
    all: [
      [
        'non chiudere',
        'non spegnere',
        'non riavviare',
        'non ignorare',
        'sluit dit venster niet',
        'niet afsluiten',
        'niet uitschakelen',
      ],
    ],
  },
  {
    all: [
      [
        'nie zamykaj',
        'nie wyłączaj',
        'не закрывайте',
        'не выключайте',
        'не перезагружайте',
        'kapatmayin',
        '閉じないで',
        '電源を切らないで',
      ],
    ],
  },
];

/** "Call support". Counts only with a telephone number. */
export const CALL: readonly Phrase[] = [
  {
    all: [
      ['call ', 'dial ', 'contact '],
      [
        'support',
        'microsoft',
        'windows',
        'apple',
        'technician',
        'helpline',
        'toll',
        'immediately',
        ' now',
        'engineer',
        'police',
      ],
    ],
  },
  {
    all: [
      ['rufen sie', 'anrufen', 'wenden sie sich'],
      ['support', 'microsoft', 'windows', 'apple', 'techniker', 'hotline', 'sofort', 'umgehend', 'jetzt'],
    ],
  },
  {
    all: [
      [
        'appelez',
        'contactez',
        'appeler',
        'llame',
        'llamar',
        'ligue',
        'chiama',
        'contatta',
        'bel ',
        'zadzwoń',
        'позвоните',
        'arayin',
        'お電話',
        '電話してください',
      ],
      [
        'support',
        'microsoft',
        'windows',
        'apple',
        'technic',
        'soporte',
        'técnic',
        'suporte',
        'supporto',
        'assist',
        'ondersteuning',
        'pomoc',
        'поддержк',
        'destek',
        'サポート',
        'immédiat',
        'inmediat',
        'imediat',
        'subito',
        'direct',
        'natychmiast',
        'немедленно',
        'hemen',
      ],
    ],
  },
];

/** "Install, clean or pay now". */
export const ACT: readonly Phrase[] = [
  {
    all: [
      ['remove', 'clean', 'scan', 'repair', 'eliminate', 'fix ', 'install', 'download', 'renew ', 'activate '],
      ['virus', ' now', 'immediately', 'threat', 'malware', 'infection', 'within', 'minute', 'second'],
    ],
  },
  {
    all: [
      ['pay ', 'fine of', 'penalty', 'bitcoin', 'gift card', 'paysafecard', 'ransom'],
      ['unlock', 'fine', 'release', 'police', 'within', 'hours', 'decrypt'],
    ],
  },
  {
    all: [
      ['entfernen', 'bereinigen', 'scannen', 'reparieren', 'installieren', 'herunterladen'],
      ['jetzt', 'sofort', 'viren', 'virus', 'minuten', 'sekunden'],
    ],
  },
  {
    all: [
      ['supprim', 'nettoy', 'analys', 'répar', 'install', 'télécharg'],
      ['maintenant', 'immédiat', 'virus', 'minute', 'secondes'],
    ],
  },
  {
    all: [
      ['elimin', 'limpi', 'limpe', 'escane', 'repar', 'instal', 'descarg', 'baix', 'remov'],
      ['ahora', 'agora', 'inmediat', 'imediat', 'virus', 'vírus', 'minutos', 'segundos'],
    ],
  },
  {
    all: [
      ['rimuov', 'puli', 'scansion', 'ripar', 'install', 'scaric'],
      [' ora', 'subito', 'virus', 'minuti', 'secondi'],
    ],
  },
  {
    all: [
      [
        'verwijder',
        'usuń',
        'удалит',
        'очист',
        'установит',
        'скачат',
        'temizle',
        'kaldir',
        '削除',
        '駆除',
        'インストール',
      ],
      [
        'nu',
        'teraz',
        'сейчас',
        'немедленно',
        'вирус',
        'hemen',
        'şimdi',
        '今すぐ',
        '直ちに',
        'ウイルス',
        'virus',
        'wirus',
      ],
    ],
  },
];
