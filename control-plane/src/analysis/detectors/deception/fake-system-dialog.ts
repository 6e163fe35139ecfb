import type { CapturedDocument } from '@adsweep/shared/capture/artifacts.ts';
import { type ObservationOf, observationsOf } from '@adsweep/shared/capture/observations/index.ts';
import { type Detector, oneTag } from '../detector.ts';
import { isVendors } from './brands.ts';
import { isForeignUpdate, OLD_PARTS } from './fake-update.ts';
import { type Link, linksOf } from './markup.ts';
import { countWords, ownWords, saidOf } from './phrase.ts';
import { DETECTIONS, THREATS } from './scareware-phrases.ts';
import { readableText } from './seen-page.ts';

/** Names that dialogs of systems and browsers use. */
const SPEAKERS = [
  ...['windows security', 'windows defender', 'microsoft defender', 'windows firewall', 'windows update'],
  ...['microsoft windows', 'microsoft security'],
  ...['system warning', 'system alert', 'system notification', 'system message', 'system update', 'security warning'],
  ...['apple security', 'macos', 'mac os'],
  ...['google chrome', 'chrome security', 'google security', 'play protect', 'android system', 'windows-sicherheit'],
  ...['sicherheitswarnung', 'systemmeldung'],
  ...['sécurité windows', 'alerte système', 'alerte de sécurité', 'seguridad de windows', 'aviso del sistema'],
  ...['alerta del sistema', 'alerta do sistema'],
  ...['segurança do windows', 'sicurezza di windows', 'avviso di sistema', 'systeemwaarschuwing'],
  ...[
    'windows güvenliği',
    'windows beveiliging',
    'windows-beveiliging',
    'zabezpieczenia systemu',
    'zabezpieczenia windows',
  ],
  ...['ostrzeżenie systemowe', 'системное', 'безопасность windows', 'windows セキュリティ'],
];
/** Words of a browser's own permission prompt, and of its two buttons (Chrome, Edge, Firefox). */
const WANTS = [
  ' wants to',
  ' möchte ',
  ' souhaite ',
  ' quiere ',
  ' vuole ',
  ' quer ',
  ' deseja',
  ' pretende',
  ' istiyor',
  ' wil ',
  ' chce ',
  ' запрашивает разрешение',
  ' さんが次の許可',
];
const PERMISSIONS = [
  'notification',
  'benachrichtigung',
  'notificacion',
  'notifiche',
  'notificaç',
  'meldingen',
  'powiadomie',
  'уведомлен',
  'bildirim',
  '通知',
  'camera',
  'location',
];
const BLOCKS = [
  'block',
  'blockieren',
  'bloquer',
  'bloquear',
  'blocca',
  'blokkeren',
  'blokuj',
  'блокировать',
  'engelle',
  'ブロック',
];
const ALLOWS = [
  'allow',
  'zulassen',
  'autoriser',
  'permitir',
  'consenti',
  'toestaan',
  'zezwól',
  'разрешить',
  'izin ver',
  '許可',
];
/** What is for a system is not its own: "Security for macOS". */
const FOR_IT = [' for ', 'für ', ' pour ', ' para ', ' per ', ' voor ', ' dla ', ' для ', ' için'];
/** Words of links to an article. */
const READS = [
  ...['read', 'more', 'article', 'weiterlesen', 'mehr', 'lire', 'suite', 'leer', 'más', 'leia', 'mais', 'leggi'],
  ...['lees'],
  ...['czytaj', 'читать', 'подробнее', 'devami', '続き', 'もっと', '詳し'],
];
/** A line without a word is a button that closes the dialog, or an icon. */
const WORD = /\p{L}{2}/u;
/**
 * The heading of a browser's own alert: nothing else is on its line, as it is in the headline "Shop.com says it sells
 * less".
 */
const SAYS =
  /^(the page at |die seite |auf |la page |la página )?(https?:\/\/)?[\w-]+(\.[\w-]+)+ (says|sagt|indique|dice|meldet|wird folgendes angezeigt|mówi|diz|の内容) ?:?$/;
const QUOTE_LENGTH = 120;

/**
 * Pages that imitate a dialog of the system or the browser: a warning in its name, a permission prompt, or an alert.
 */
export const fakeSystemDialog: Detector<'documents'> = {
  name: 'fake_system_dialog',
  needs: ['documents'],
  detect({ observations, documents }) {
    const known = new Map<number | null, Links>();
    const linksOn = (landing: number | null): Links => {
      const links = known.get(landing) ?? linksByText(documents.filter((one) => one.landing === landing));
      known.set(landing, links);
      return links;
    };
    return oneTag(
      'fake_system_dialog',
      observationsOf(observations, 'dialog_box')
        .filter((box) => !isVendors(box.url) && pretends(box, linksOn))
        .map(({ landing, facts }) => ({
          landing,
          text: `"${readableText(facts.text).replaceAll('\n', ' ').slice(0, QUOTE_LENGTH)}"`,
        })),
    );
  },
};

/**
 * The links and buttons of the documents of a landing by their texts. They are read once, because a page may have many
 * boxes.
 */
type Links = ReadonlyMap<string, readonly Link[]>;
type LinksOn = (landing: number | null) => Links;

const linksByText = (documents: readonly CapturedDocument[]): Links =>
  Map.groupBy(
    documents.flatMap(({ html, url }) => linksOf(html, url)),
    ({ text }) => text,
  );

function pretends(box: ObservationOf<'dialog_box'>, linksOn: LinksOn): boolean {
  const { facts } = box;
  const text = ownWords(readableText(facts.text), '');
  const buttons = facts.buttons.map(readableText);
  const has = (among: string, words: string[]) => countWords(among, words, 1) > 0;
  const offers = (words: string[]) => buttons.some((button) => words.includes(button.trim()));
  const heading = (text.split('\n').find((line) => WORD.test(line)) ?? '').trim();
  if (SAYS.test(heading)) return true;
  if (has(text, WANTS) && has(text, PERMISSIONS) && offers(BLOCKS) && offers(ALLOWS)) return true;
  if (!has(text, SPEAKERS)) return false;
  if (saidOf(text, THREATS).length > 0) return true;
  if (!has(heading, SPEAKERS)) return false;
  const isTeaser = buttons.length > 0 && buttons.every((button) => has(button, READS));
  if (!isTeaser && !has(heading, FOR_IT) && saidOf(text, DETECTIONS).some((found) => !isHeadline(found, buttons)))
    return true;
  // Honest sites ask for a newer browser too, and name it.
  return saidOf(text, OLD_PARTS).length > 0 && offersForeignUpdate(box, buttons, linksOn);
}

/** Shorter buttons are no headlines. */
const HEADLINE_MIN = 20;

/**
 * Whether a sentence is a link, as the headlines of news are: those name systems and what was found in them too.
 * Buttons are cut.
 */
const isHeadline = (sentence: string, buttons: readonly string[]): boolean =>
  buttons.some((button) => {
    const text = button.trim();
    return (
      text.length >= HEADLINE_MIN && !text.includes('\n') && (sentence.startsWith(text) || text.includes(sentence))
    );
  });

/** Whether a button of the box offers an update that is not its vendor's. */
const offersForeignUpdate = (
  { landing, url }: ObservationOf<'dialog_box'>,
  buttons: readonly string[],
  linksOn: LinksOn,
): boolean =>
  buttons.some((button) => {
    const text = button.replace(/\s+/g, ' ').trim();
    // What is neither a link nor a button is handled by a script.
    const same = linksOn(landing).get(text) ?? [{ text, url: '', isDownload: false }];
    return same.some((link) => isForeignUpdate(link, url));
  });
