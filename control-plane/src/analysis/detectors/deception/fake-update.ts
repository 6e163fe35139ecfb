import { type Observation, observationsOf } from '@adsweep/shared/capture/observations/index.ts';
import { registrableDomain, sameSite } from '@adsweep/shared/urls/registrable-domain.ts';
import { type Detector, oneTag } from '../detector.ts';
import { isVendors } from './brands.ts';
import { type Link, linksOf } from './markup.ts';
import { type Phrase, saidOf } from './phrase.ts';
import { readableText, type SeenPage, seenPages } from './seen-page.ts';

const PRODUCTS = [
  ...['chrome', 'firefox', 'microsoft edge', 'safari', 'browser', 'flash player', 'video player', 'media player'],
  ...['codec', 'your windows', 'your android', 'webview', 'navigateur', 'navegador', 'браузер', 'przeglądark'],
  ...['tarayici', 'ブラウザ'],
];
/** Words of advice for whenever, as banks give it. */
const ADVICE = [
  ...['regular', 'always', 'make sure', 'regelmäßig', 'immer', 'stets', 'régulièrement', 'toujours'],
  ...['siempre', 'periódicamente', 'sempre', 'regolarmente', 'regelmatig', 'altijd', 'zawsze', 'регулярно', 'всегда'],
  ...['düzenli', 'her zaman', '常に', '定期的'],
];
/** Words that make a claim a question, a condition, or a statement about any browser. */
const CONDITIONS = [
  ...['?', 'if ', 'wenn ', 'falls ', 'wer einen ', 'outdated browser is', 'outdated browsers', 'older browsers'],
  ...['si votre', 'si vous', 'navigateur obsolète est', 'si su ', 'si tu ', 'si el ', 'si utiliza', 'se il browser'],
  ...['se la tua', 'se usi', 'se o seu navegador', 'se você', 'als uw', 'als je', 'jeśli', 'если', 'eğer', 'değilse'],
  ...['場合'],
];
/**
 * Words of notes about a release, and about other things that are updated or missing: the own app, a page that is to be
 * reloaded.
 */
const OF_OTHER_THINGS = [
  ...['fixed:', 'fixed a', 'fixed the', 'fixes ', 'android app', 'firmware', 'falta de '],
  ...['обновите страниц', 'обновите эту страниц'],
];
/** Words of the requirements of a site, of which version is new enough. */
const REQUIREMENTS = [
  ...['or newer', 'or later', 'or higher', 'or above', 'oder neuer', 'oder höher', 'ou plus récent', 'ou supérieur'],
  ...['o superior', 'ou superior', 'o successiv', 'of hoger', 'lub nowsz', 'или новее', '以降'],
];
/**
 * Claims that a part of the visitor's browser or system is old or missing. By language: English, German, French,
 * Spanish, ... Words that also ask for a browser that is up to date, as the requirements of honest sites do, are none.
 */
export const OLD_PARTS: readonly Phrase[] = [
  [
    ...['out of date', 'outdated', 'out-of-date', 'not up to date', 'needs to be updated', 'must be updated'],
    ...['update required'],
    ...['update is required', 'critical update', 'update exception', 'update package', 'update failed'],
    ...['urgent update', 'an old version of your', 'using an old', 'have an old', 'running an old', 'is missing'],
    ...['update your'],
  ],
  [
    ...['veraltet', 'nicht aktuell', 'muss aktualisiert', 'fehlt', 'update erforderlich', 'aktualisieren sie'],
    ...['aktualisierung erforderlich'],
  ],
  ['obsolète', "n'est pas à jour", 'mettre à jour', 'mise à jour requise', 'mettez à jour', 'manquant'],
  [
    ...['desactualizad', 'obsolet', 'actualice', 'actualiza tu', 'falta ', 'desatualizad', 'atualize'],
    ...['ser atualizad', 'atualização necessária', 'atualização crítica', 'atualização obrigatória'],
    ...['requer atualização'],
  ],
  [
    ...['non è aggiornato', 'obsoleto', 'aggiorna ', 'aggiornamento richiesto', 'verouderd', 'niet up-to-date'],
    ...['worden bijgewerkt', 'bijgewerkt worden'],
  ],
  [
    ...['nieaktualn', 'zaktualizuj', 'устарел', 'обновите', 'требуется обновление', 'необходимо обнов'],
    ...['нужно обнов', 'güncel değil', 'güncelleyin', 'güncellemeniz', 'güncellenmesi', 'güncelleme gerek', '古い'],
    ...[
      '古く',
      '最新ではあり',
      '最新ではない',
      '更新してください',
      '更新が必要',
      '更新する必要',
      'アップデートしてください',
      'アップデートが必要',
    ],
  ],
  ["font wasn't found", 'font was not found', 'font pack'],
].map((states) => ({
  all: [states, PRODUCTS],
  unless: [...CONDITIONS, ...ADVICE, ...OF_OTHER_THINGS, ...REQUIREMENTS],
}));

const ACTIONS = [
  ...['update', 'install', 'download', 'upgrade', 'aktualisier', 'herunterlad', 'mettre à jour', 'télécharg'],
  ...['actualiz', 'descarg', 'atualiz', 'baixar', 'aggiorn', 'scaric', 'bijwerk', 'zaktualiz', 'pobierz', 'обнов'],
  ...['скача', 'установ', 'güncelle', 'indir', '更新', 'ダウンロード'],
];
/** Files that run when they are opened, and archives of them. */
const PROGRAM =
  /\.(exe|msi|msix|msixbundle|appx|appinstaller|dmg|pkg|apk|apks|xapk|zip|rar|7z|iso|img|vhdx?|hta|js|jse|vbs|vbe|wsf|scr|bat|cmd|ps1|crx|xpi|jar|lnk|url|scpt|mobileconfig)$/i;
/** Files that show something when they are opened. */
const DOCUMENT =
  /\.(pdf|docx?|xlsx?|pptx?|od[tsp]|rtf|txt|csv|json|xml|ics|vcf|epub|jpe?g|png|gif|webp|avif|svg|mp3|mp4|m4a|webm|mov)$/i;
/** The longest text of a page that is only a prompt to update, in characters. */
const LENGTH_OF_PROMPT = 1_500;

/** Pages that claim the browser or a part of it is old, and offer an update that is not its vendor's. */
export const fakeUpdate: Detector<'documents'> = {
  name: 'fake_update',
  needs: ['documents'],
  detect: ({ documents, observations }) =>
    oneTag(
      'fake_update',
      seenPages(documents).flatMap((page) => {
        const offer = offerOf(page, observations);
        return offer === null ? [] : { landing: page.landing, text: offer };
      }),
    ),
};

/** What a page offers as an update; null if it offers none, links to the vendor, or is about such pages. */
function offerOf({ landing, url, text, own, html }: SeenPage, observations: Observation[]): string | null {
  if (isVendors(url)) return null;
  const [claim] = saidOf(own, OLD_PARTS);
  if (!claim) return null;
  const downloads = observationsOf(observations, 'auto_download').filter((one) => one.landing === landing);
  const file = downloads.find(
    ({ facts: { file_name, file_url } }) =>
      PROGRAM.test(file_name) &&
      !isVendors(file_url) &&
      !isOwnProduct({ text: '', url: file_url, fileName: file_name }, url),
  );
  if (file) return `"${claim}", and ${file.facts.file_url} is downloaded`;
  const links = html.flatMap((one) => linksOf(one, url));
  const updates = links.filter((link) => isForeignUpdate(link, url) && !isOwnProduct(link, url));
  const program = updates.find(isProgram);
  if (program) return `"${claim}", and a link to ${program.url}`;
  const action = updates.find((link) => leadsElsewhere(link, url));
  const isPrompt = text.length <= LENGTH_OF_PROMPT && !links.some((link) => isVendors(link.url));
  return action && isPrompt ? `"${claim}", and "${action.text.slice(0, 60)}"` : null;
}

/**
 * Whether a link or button of the page at `url` offers an update that is not its vendor's: a program, or another site.
 */
export const isForeignUpdate = (link: Link, url: string): boolean =>
  ACTIONS.some((action) => link.text.includes(action)) &&
  !isVendors(link.url) &&
  (isProgram(link) || leadsElsewhere(link, url));

/** Shorter names of sites are parts of other words. */
const SITE_NAME_MIN = 4;
/** Characters of a path that are read from its end: a page has up to a thousand links, and some carry data. */
const FILE_LENGTH_MAX = 200;
/** Words that the name, the links and the files of a fake update have, and those of another product have not. */
const OF_AN_UPDATE = new RegExp(
  [
    'update|upgrade|aktualisier|mise.?a.?jour|mettre|actualiz|atualiz|aggiorn|bijwerk|zaktualiz|обнов|guncelle|güncelle|更新',
    'browser|chrom|firefox|mozilla|edge|safari|opera|flash|player|codec|webview|navigateur|navegador|плеер|браузер|ブラウザ',
  ].join('|'),
);

/**
 * Whether a link saves a product of the site at `url` that is no update: the link, its file and its place say whose it
 * is, two of them at least.
 */
function isOwnProduct({ text, url: to, fileName = '' }: Pick<Link, 'text' | 'url' | 'fileName'>, url: string): boolean {
  const [name = ''] = registrableDomain(url).split('.');
  const file = readableText(`${(URL.parse(to)?.pathname ?? '').slice(-FILE_LENGTH_MAX)} ${fileName}`);
  if (name.length < SITE_NAME_MIN || [name, text, file].some((one) => OF_AN_UPDATE.test(one))) return false;
  return [text, file].filter((one) => lettersOf(one).includes(lettersOf(name))).length + Number(sameSite(to, url)) >= 2;
}

const lettersOf = (text: string): string => text.replace(/[^\p{L}\p{N}]/gu, '');

/** What a button saves that is no update. By language: English, German, French, Spanish and Portuguese, ... */
const OTHER_FILES = [
  ...['pdf', 'csv', 'invoice', 'report', 'receipt', 'statement', 'brochure', 'catalog', 'document', 'ticket'],
  ...['rechnung', 'bericht', 'beleg', 'prospekt', 'katalog', 'dokument', 'facture', 'rapport', 'relevé'],
  ...['factura', 'informe'],
  ...['recibo', 'fatura', 'relatório', 'fattura', 'ricevuta', 'documento', 'factuur', 'faktur', 'raport'],
  ...['счёт', 'отчёт'],
  ...['документ', 'rapor', '請求書', '資料'],
];

/**
 * An honest prompt links to its own site or to the vendor; where a button without a URL leads, its words have to say.
 */
const leadsElsewhere = ({ text, url: to }: Link, url: string): boolean =>
  to === '' ? !OTHER_FILES.some((file) => text.includes(file)) : !sameSite(to, url);

/** Whether a link saves something that runs, as far as names say. */
function isProgram({ url, isDownload, fileName }: Link): boolean {
  const path = URL.parse(url)?.pathname ?? '';
  return PROGRAM.test(path) || (isDownload && !DOCUMENT.test(fileName ?? path));
}
