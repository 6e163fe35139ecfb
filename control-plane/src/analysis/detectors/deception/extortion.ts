import { isVendors } from './brands.ts';
import { countWords, type Phrase, saidOf } from './phrase.ts';
import type { SeenPage } from './seen-page.ts';

/** "I recorded you through your camera". By language: English, German, French, Spanish and Portuguese, ... */
const RECORDED: readonly Phrase[] = [
  [
    [
      ...['recorded you', 'filmed you', 'video of you', 'videos of you', 'recording of you'],
      ...['footage of you', 'recorded a video'],
    ],
    ['camera', 'webcam', 'adult', 'porn', 'masturbat', 'pleasur', 'intimate', 'naked'],
  ],
  [
    [
      ...['sie gefilmt', 'dich gefilmt', 'sie aufgenommen', 'dich aufgenommen', 'sie aufgezeichnet'],
      ...['video von ihnen', 'video von dir'],
    ],
    ['kamera', 'webcam', 'porno', 'masturb', 'nackt', 'intim'],
  ],
  [
    ['vous ai filmé', "t'ai filmé", 'vous ai enregistré', 'vidéo de vous', 'vidéo de toi'],
    ['caméra', 'webcam', 'porno', 'masturb', 'intime', 'adulte'],
  ],
  [
    [
      ...['te he grabado', 'te grabé', 'le he grabado', 'lo grabé', 'video tuyo', 'vídeo tuyo'],
      ...['video suyo', 'gravei você', 'vídeo seu'],
    ],
    ['cámara', 'câmera', 'webcam', 'porno', 'pornô', 'masturb', 'íntim', 'adult'],
  ],
  [
    ['ti ho registrato', 'ti ho filmato', 'video di te', 'video in cui ti'],
    ['camera', 'webcam', 'porno', 'masturb', 'intim'],
  ],
  [
    ['heb je gefilmd', 'heb u gefilmd', 'je opgenomen', 'video van je', 'video van jou', 'video van u'],
    ['camera', 'webcam', 'porno', 'masturb', 'naakt'],
  ],
  [
    ['nagrałem cię', 'nagrałam cię', 'nagranie z tobą', 'wideo z tobą', 'film z tobą'],
    ['kamer', 'porno', 'masturb', 'intymn'],
  ],
  [
    ['записал вас', 'записал тебя', 'видео с вами', 'видео с тобой', 'снял вас', 'снял тебя'],
    ['камер', 'порно', 'мастурб', 'интим'],
  ],
  [
    ['seni kaydettim', 'sizi kaydettim', 'videonu kaydettim', 'videonuzu kaydettim'],
    ['kamera', 'porno', 'mastürb'],
  ],
  [
    ['あなたを録画', 'あなたを撮影', 'あなたの動画', 'あなたの映像'],
    ['カメラ', 'ポルノ', '自慰', 'アダルト'],
  ],
].map((all) => ({ all, unless: ['?', 'if ', 'wenn ', 'если'] }));

/** "Pay in Bitcoin". */
const RANSOM: readonly Phrase[] = [
  {
    all: [
      ['bitcoin', ' btc', 'monero', ' xmr', 'usdt', 'litecoin', 'биткоин', 'биткойн', 'ビットコイン'],
      [
        ...['pay', 'send', 'transfer', 'zahl', 'überweis', 'schick', 'envoy', 'envía', 'envíe', 'envie'],
        ...['pague', 'invia'],
        ...['betaal', 'stuur', 'zapła', 'przel', 'wyślij', 'заплат', 'оплат', 'перевед', 'отправ', 'öde'],
        ...['gönder', '支払', '送'],
      ],
    ],
  },
];
/** What follows otherwise, and when. */
const OTHERWISE = [
  ...['contacts', 'friends', ' hours', 'kontakte', 'freunde', ' stunden', 'proches', ' heures'],
  ...['contactos', 'contatos'],
  ...['amigos', ' horas', 'contatti', 'amici', ' ore', 'contacten', 'vrienden', ' uur', 'kontakt', 'znajom', ' godzin'],
  ...['контакт', 'друзьям', ' часов', 'rehber', 'arkadaş', ' saat', '連絡先', '友人', '時間'],
];

/**
 * The claim of a page to have recorded its visitor, if it wants to be paid in a currency that cannot be traced, within
 * a time or before others see it; null: it does not, or is about such pages. Pure.
 */
export function extortionOf({ url, own }: SeenPage): string | null {
  const [claim] = saidOf(own, RECORDED);
  const presses = saidOf(own, RANSOM).length > 0 && countWords(own, OTHERWISE, 1) > 0;
  return claim && presses && !isVendors(url) ? claim : null;
}
