import type { FormField } from '@adsweep/shared/capture/observations/content.ts';
import { registrableDomain } from '@adsweep/shared/urls/registrable-domain.ts';
import { BRANDS, isOwn } from '../brands.ts';
import { countWords, type Phrase, saidOf } from '../phrase.ts';
import { asRead, type SeenPage } from '../seen-page.ts';

/** What no wallet asks for its phrase for; to import or restore one is honest. */
const WALLET_LURES: readonly Phrase[] = [
  {
    all: [
      [
        ...[
          'validat',
          'rectif',
          'synchroni',
          'airdrop',
          'claim ',
          'giveaway',
          'whitelist',
          'migrat',
          'unstak',
          'reflection',
        ],
        ...['asset recovery', 'recover assets', 'kyc', 'troubleshoot', 'presale'],
      ],
      ['wallet', 'recovery phrase', 'seed phrase', 'secret phrase', 'private key', 'token'],
    ],
    unless: ['never', 'not ', "n't "],
  },
  // A connection that always fails, so that visitors type the phrase.
  {
    all: [['connect manually', 'connect wallet manually', 'connect your wallet manually', 'manual connect']],
    unless: ['never', '?', 'if '],
  },
];

/**
 * "Your parcel is held": parcels, and what is said of them. By language: English, German, French, Spanish, Portuguese,
 * Italian, Dutch, ...
 */
const HELD_PARCELS: readonly (readonly [parcels: string, held: string])[] = [
  [
    'your parcel|your package|your shipment',
    "on hold|is held|being held|been held|could not be delivered|couldn't be delivered|undelivered|awaiting payment|pending|stopped at|been suspended|return to sender|returned to the sender|is waiting",
  ],
  [
    'ihr paket|ihre sendung|dein paket|deine sendung|ihrer sendung|ihres pakets',
    'zurückgehalten|nicht zugestellt|angehalten|wartet|gestoppt|ausgesetzt|beim zoll|zurückgesendet|zurückgeschickt',
  ],
  [
    'votre colis|votre paquet|votre envoi|votre livraison',
    "en attente|retenu|n'a pas pu être|n'a pas été livré|bloqué|suspendu|en instance|retourné",
  ],
  [
    'su paquete|tu paquete|su envío|tu envío',
    'retenido|pendiente|no pudo ser|no se ha podido|no ha podido|detenido|en espera|suspendid',
  ],
  [
    'sua encomenda|seu pacote|seu objeto|sua entrega|seu envio',
    'retid|pendente|não pôde ser|não pode ser entregue|aguardando|suspens|bloquead|taxad',
  ],
  [
    'il tuo pacco|il suo pacco|la tua spedizione|la sua spedizione',
    'in giacenza|trattenut|in attesa|non è stat|bloccat|sospes',
  ],
  [
    'uw pakket|je pakket|uw zending|je zending',
    'wacht|kon niet|niet bezorgd|niet worden bezorgd|vastgehouden|tegengehouden',
  ],
  [
    'twoja paczka|twoja przesyłka|twoją paczkę|twoją przesyłkę|twojej paczki|twojej przesyłki',
    'wstrzyman|zatrzyman|nie mogła|nie została|oczekuje|czeka|nie mogliśmy',
  ],
  [
    'ваша посылка|вашу посылку|ваше отправление|вашей посылки',
    'задержан|приостановлен|не доставлен|ожидает|не удалось',
  ],
  ['kargonuz|paketiniz|gönderiniz', 'bekletil|bekliyor|beklemede|teslim edilemedi|durduruldu|askiya'],
  ['お荷物', '保留|配達でき|お届けでき|お届けすること|持ち戻'],
  ['ditt paket|din försändelse', 'väntar|kunde inte levereras|hålls|stoppats'],
  ['din pakke|pakken din', 'afventer|venter|kunne ikke leveres|tilbageholdt|holdes tilbake|på hold|på vent'],
  ['pakettisi|lähetyksesi', 'odottaa|ei voitu|pysäytetty'],
  [
    'váš balík|vaše zásilka|vaši zásilku|vaša zásielka|váš balík',
    'pozastaven|zadržan|zadržen|nemohl|nemohol|čeká|nebyl|nebol',
  ],
  ['csomagja|csomagod|küldeménye', 'várakoz|visszatart|nem sikerült|felfüggeszt'],
  ['coletul dumneavoastră|coletul tău|coletul dvs', 'așteaptă|în așteptare|reținut|nu a putut|suspendat'],
  ['δέμα σας|αποστολή σας', 'σε αναμονή|κρατείται|δεν παραδόθηκε|δεν μπόρεσε'],
  ['طردك|شحنتك|الطرد الخاص بك|الشحنة الخاصة بك', 'معلق|محتجز|في انتظار|بانتظار|لم يتم تسليم|تعذر'],
  ['החבילה שלך|המשלוח שלך', 'ממתינ|מעוכב|לא נמסר|עוכב'],
  ['paket anda|kiriman anda|bungkusan anda', 'ditahan|tertahan|menunggu|tidak dapat dikirim|gagal'],
  ['gói hàng của bạn|kiện hàng của bạn|bưu kiện của bạn', 'bị giữ|đang chờ|không thể giao|tạm giữ'],
  ['พัสดุของคุณ', 'ถูกระงับ|ถูกกัก|ไม่สามารถจัดส่ง|รอการชำระ'],
  ['고객님의 택배|고객님의 소포|귀하의 택배|귀하의 소포', '보류|배송할 수 없|배송하지 못|반송'],
  ['您的包裹|您的快递|您的快件|你的包裹', '无法投递|無法投遞|滞留|滯留|被扣|暂停|暫停|待支付|未能派送'],
];
/** Words that make it a question, a condition or advice. */
const CONDITIONS = [
  ...['?', 'if ', 'when ', 'once ', 'in case', 'may be', 'might', 'wenn ', 'falls ', 'sobald', 'si votre', 'lorsque'],
  ...[
    'si su',
    'si tu',
    'cuando',
    'caso ',
    'quando',
    'se il',
    'se la',
    'als uw',
    'als je',
    'jeśli',
    'gdy ',
    'если',
    'когда',
  ],
  ...[
    'eğer',
    '場合',
    'hvis',
    'om ditt',
    'jos ',
    'pokud',
    'ak ',
    ' ha ',
    'dacă',
    ' αν ',
    'εάν',
    'إذا',
    'אם ',
    'nếu ',
    'หาก',
  ],
  ...['jika', '경우', '如果'],
];
const PARCEL_LURES: readonly Phrase[] = HELD_PARCELS.map(([parcels, held]) => ({
  all: [asRead(parcels.split('|')), asRead(held.split('|'))],
  unless: asRead(CONDITIONS),
}));
/** What is to be paid for it. */
const FEES = asRead([
  ...[
    'fee',
    'customs',
    'duty',
    'duties',
    'charge',
    'postage',
    'shipping cost',
    'gebühr',
    'zoll',
    'porto',
    'versandkosten',
  ],
  ...['frais', 'douane', 'tarifa', 'aduana', 'gastos', 'tasa', 'taxa', 'alfândega', 'spese', 'dogana', 'dazi', 'tassa'],
  ...[
    'kosten',
    'opłat',
    'cło',
    'пошлин',
    'сбор',
    'оплат',
    'ücret',
    'gümrük',
    '手数料',
    '関税',
    '送料',
    'avgift',
    'tull',
  ],
  ...['gebyr', 'told', 'toll', 'maksu', 'tulli', 'poplat', ' clo', 'vámdíj', 'díjat', 'taxă', 'vamă', 'τέλη', 'τελών'],
  ...[
    'رسوم',
    'جمارك',
    'מכס',
    'עמלה',
    'phí',
    'hải quan',
    'ค่าธรรมเนียม',
    'ภาษี',
    'biaya',
    '수수료',
    '관세',
    '费',
    '費',
    '关税',
  ],
]);

/** What such prizes are, which no discount is. */
const PRIZES = [
  ...['iphone', 'ipad', 'macbook', 'airpods', 'galaxy s', 'galaxy z', 'smartphone', 'laptop', 'playstation', 'xbox'],
  ...['dyson', 'air fryer', 'gift card', 'geschenkkarte', 'carte cadeau', 'tarjeta de regalo', 'your prize'],
  ...[
    'ihr gewinn',
    'dein gewinn',
    'ihren gewinn',
    'deinen gewinn',
    'votre lot',
    'votre prix',
    'su premio',
    'tu premio',
  ],
];
/** "You have won an iPhone". By language: English, German, French, Spanish. */
const PRIZE_LURES: readonly Phrase[] = [
  [['you have won', "you've won", 'you won', 'you are the winner', "you're the winner", 'you are our winner']],
  [['gewonnen'], ['sie haben', 'du hast', 'haben sie', 'hast du']],
  [['vous avez gagné', 'tu as gagné', "vous êtes l'heureux gagnant", 'vous êtes le gagnant']],
  [['usted ha ganado', 'has ganado', '¡ha ganado', 'usted es el ganador', 'eres el ganador']],
].map((won) => ({ all: [...won, asRead(PRIZES)], unless: asRead(CONDITIONS) }));
/** What is to be paid for it, which an honest winner does not pay. */
const SHIPPING = asRead([
  ...[
    'shipping',
    'delivery',
    'postage',
    'handling',
    'processing fee',
    'versand',
    'porto',
    'liefer',
    'bearbeitungsgebühr',
  ],
  ...['livraison', "frais d'envoi", 'frais de port', 'expédition', 'gastos de envío', 'envío', 'entrega'],
]);
/** What is said of parcels, and not of packages that are tariffs or journeys. */
const DELIVERY = asRead([
  ...[
    'deliver',
    'courier',
    'parcel',
    'postal',
    'customs',
    'zustell',
    'liefer',
    'sendung',
    'zoll',
    'livr',
    'colis',
    'douane',
  ],
  ...[
    'entrega',
    'correo',
    'reparto',
    'aduana',
    'encomenda',
    'consegn',
    'corriere',
    'dogana',
    'bezorg',
    'dostaw',
    'kurier',
  ],
  ...[
    'przesył',
    'доставк',
    'почт',
    'посылк',
    'teslim',
    'kargo',
    'gümrük',
    '配達',
    '宅配',
    'lever',
    'toimit',
    'doruč',
    'zásil',
  ],
  ...[
    'kézbes',
    'curier',
    'παράδ',
    'παραλαβ',
    'توصيل',
    'تسليم',
    'שליח',
    'משלוח',
    'pengiriman',
    'kurir',
    'giao hàng',
    'จัดส่ง',
  ],
  ...['배송', '택배', '配送', '快递', '派送', '投递', '投遞'],
]);

/** Postal operators and carriers that are no {@link BRANDS}, and customs: they hold parcels, and are paid for them. */
const CARRIERS = new Set(
  (
    'anpost.com aramex.com bgpost.bg bring.com bring.no ceskaposta.cz correios.com.br correoargentino.com.ar ctt.pt cttexpress.com elta.gr ' +
    'emiratespost.ae ems.com.cn epost.go.kr gls-group.com gls-group.eu gls-pakete.de hermesworld.com myhermes.de hongkongpost.hk indiapost.gov.in ' +
    'israelpost.co.il japanpost.jp jtexpress.my novapost.com novaposhta.ua nzpost.co.nz omniva.ee omniva.lt omniva.lv ontrac.com packeta.com ' +
    'pochta.ru pos.com.my posindonesia.co.id post.at post.ch post.gov.tw post.lu posta-romana.ro posta.hr posta.hu posta.si posta.sk postaonline.cz ' +
    'posten.no posti.fi postoffice.co.uk postur.is ptt.gov.tr purolator.com singpost.com sp.com.sa speedpost.com.sg splonline.com.sa swisspost.ch ' +
    'thailandpost.co.th tnt.com ukrposhta.ua vnpost.vn yodel.co.uk zoll.de'
  ).split(' '),
);
/** Governments collect duties too. */
const OFFICIAL = /\.(gov|(gov|gouv|gob)\.[a-z]{2}|gc\.ca|go\.(cr|id|jp|ke|kr|th|tz|ug))$/;

const isCarriers = (url: string): boolean =>
  CARRIERS.has(registrableDomain(url)) ||
  OFFICIAL.test(URL.parse(url)?.hostname ?? '') ||
  BRANDS.some((brand) => isOwn(brand, url));

/**
 * The pretext under which a form asks for the phrase that opens a wallet, or for a card, in words; null: there is none.
 * Pure.
 */
export function pretextOf(fields: readonly FormField[], { url, own }: SeenPage): string | null {
  const asksForPhrase = fields.includes('seed_phrase') && !BRANDS.some((brand) => isOwn(brand, url));
  const [walletLure] = asksForPhrase ? saidOf(own, WALLET_LURES) : [];
  if (walletLure) return walletLure;
  const asksForCard = (fields.includes('card_number') || fields.includes('card_code')) && !isCarriers(url);
  const isOfParcel = asksForCard && [FEES, DELIVERY].every((words) => countWords(own, words, 1) > 0);
  const [parcelLure] = isOfParcel ? saidOf(own, PARCEL_LURES) : [];
  const [prizeLure] = asksForCard && countWords(own, SHIPPING, 1) > 0 ? saidOf(own, PRIZE_LURES) : [];
  return parcelLure ?? prizeLure ?? null;
}
