import type { Phrase } from './phrase.ts';
import { MORE_ACT, MORE_CALL, MORE_STAY } from './scareware-languages.ts';

/** "Do not close or restart". */
export const STAY: readonly Phrase[] = [
  {
    all: [
      ['do not', "don't", 'never'],
      [
        ...['close this', 'close the', 'shut down', 'restart', 'turn off', 'ignore this', 'ignore the'],
        ...['leave this page', 'use your computer', 'press the back'],
      ],
    ],
  },
  {
    all: [
      ['nicht', 'keinesfalls'],
      [
        ...['herunterfahren', 'neu starten', 'ausschalten', 'fenster schließen', 'schließen sie dieses'],
        ...['ignorieren', 'neustarten'],
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
        ...['non chiudere', 'non spegnere', 'non riavviare', 'non ignorare', 'sluit dit venster niet'],
        ...['niet afsluiten', 'niet uitschakelen'],
      ],
    ],
  },
  {
    all: [
      [
        ...['nie zamykaj', 'nie wyłączaj', 'не закрывайте', 'не выключайте', 'не перезагружайте', 'kapatmayin'],
        ...['閉じないで', '電源を切らないで'],
      ],
    ],
  },
  ...MORE_STAY,
];

/** "Call support". Counts only with a telephone number. */
export const CALL: readonly Phrase[] = [
  {
    all: [
      ['call ', 'dial ', 'contact '],
      [
        ...['support', 'microsoft', 'windows', 'apple', 'technician', 'helpline', 'toll', 'immediately', ' now'],
        ...['engineer', 'police'],
      ],
    ],
  },
  {
    all: [
      ['rufen sie', 'anrufen', 'wenden sie sich', 'kontaktieren'],
      ['support', 'microsoft', 'windows', 'apple', 'techniker', 'hotline', 'sofort', 'umgehend', 'jetzt'],
    ],
  },
  {
    all: [
      [
        ...['appelez', 'contactez', 'appeler', 'llame', 'llamar', 'ligue', 'chiama', 'contatta', 'bel ', 'zadzwoń'],
        ...['позвоните', 'arayin', 'お電話', '電話してください', '連絡してください'],
      ],
      [
        ...['support', 'microsoft', 'windows', 'apple', 'technic', 'soporte', 'técnic', 'suporte', 'supporto'],
        ...['assist', 'ondersteuning', 'pomoc', 'поддержк', 'destek', 'サポート', 'immédiat', 'inmediat', 'imediat'],
        ...['subito', 'direct', 'natychmiast', 'немедленно', 'hemen'],
      ],
    ],
  },
  ...MORE_CALL,
];

/** "Pay a fine", as pages demand that say to come from the police. */
export const FINE: readonly Phrase[] = [
  {
    all: [
      [
        ...['a fine', 'the fine', 'fine of', 'penalty', 'paysafecard', 'ransom', 'strafe', 'bußgeld', 'lösegeld'],
        ...['amende', 'rançon', 'multa', 'rescate', 'resgate', 'riscatto', 'boete', 'losgeld', 'grzywn', 'okup'],
        ...['штраф', 'выкуп', 'ceza', '罰金'],
      ],
      [
        ...['pay ', 'zahlen', 'payer', 'payez', 'pagar', 'pague', 'paga ', 'betaal', 'betalen', 'zapła', 'оплат'],
        ...['заплат', 'öde', '支払'],
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
      ['protect', 'secure ', 'action is required', 'action required', 'take action'],
      [' now', 'immediate', 'within', 'minute'],
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
        ...['verwijder', 'usuń', 'удалит', 'очист', 'установит', 'скачат', 'temizle', 'kaldir', '削除'],
        ...['駆除', 'インストール'],
      ],
      [
        ...['nu', 'teraz', 'сейчас', 'немедленно', 'вирус', 'hemen', 'şimdi', '今すぐ', '直ちに', 'ウイルス'],
        ...['virus', 'wirus'],
      ],
    ],
  },
  ...MORE_ACT,
];
