import { lowerCase } from '../../evidence/lower-case.ts';
import type { Detector } from '../detector.ts';
import { oneTag } from '../detector.ts';
import { inlineScripts } from './malicious-script.ts';
import { wordsOf } from './markup.ts';
import { discusses } from './phrase.ts';
import { type SeenPage, seenPages } from './seen-page.ts';

/** Windows + R (a dialog) and Windows + X (a menu), in words or with a symbol for the key, in texts with single spaces. */
const KEYS =
  '(?:\\bwin(?:dows)?|⊞)[^\\p{L}\\p{N}+]{0,6}(?:(?:key|button|logo|taste|icon|tuşu)[^\\p{L}\\p{N}+]{0,6}){0,2}(?:\\+|and|und)[^\\p{L}\\p{N}]{0,3}[rx](?![\\p{L}\\p{N}])';
/** The address bar of the file explorer, which runs commands too ("FileFix"). */
const ADDRESS_BARS = [
  ...['address bar', 'adressleiste', 'adresszeile', "barre d'adresse", 'barra de direcciones', 'barra de endereço'],
  ...['barra degli indirizzi', 'adresbalk', 'pasku adresu', 'адресную строку', 'adres çubuğu', 'アドレスバー'],
];
const EXPLORERS = [
  ...[
    'file explorer',
    'windows explorer',
    'datei-explorer',
    'windows-explorer',
    'explorateur',
    'explorador de archivos',
  ],
  ...['explorador de arquivos', 'eksplorator', 'verkenner', 'esplora file', 'проводник', 'gezgini', 'エクスプローラー'],
];
/** Places that only run commands, and with them others in which commands are typed. */
const RUN_ONLY = new RegExp([KEYS, 'run dialog', ...ADDRESS_BARS].join('|'), 'gu');
const RUN = new RegExp([KEYS, 'run dialog', ...ADDRESS_BARS, 'terminal', 'powershell'].join('|'), 'gu');
/** The most places that are looked at: a text that repeats them says nothing new. */
const PLACES_MAX = 200;
/** Characters of a document's words, shown or not, that are searched. */
const HIDDEN_LENGTH = 200_000;
const PASTE = [
  ...['ctrl + v', 'ctrl+v', 'strg + v', 'strg+v', 'cmd + v', 'cmd+v', 'command + v', '⌘ + v', '⌘v', '⌘ v', 'paste'],
  ...[
    'einfügen',
    'coller',
    'collez',
    'pegar',
    'pegue',
    'incolla',
    'colar',
    'cole ',
    'вставьте',
    'wklej',
    'yapiştir',
    '貼り付け',
  ],
];
/** Claims that this proves the visitor to be human, which no honest installation needs. */
const HUMAN = [
  ...['not a robot', 'are human', "you're human", 'human verification', 'kein roboter', 'mensch sind', 'ein mensch'],
  ...['pas un robot', 'êtes humain', 'êtes un humain', 'no soy un robot', 'eres humano', 'es humano', 'un ser humano'],
  ...['non sono un robot', 'sei umano', 'essere umano', 'não sou um robô', 'é humano', 'geen robot', 'een mens'],
  ...[
    'nie jestem robotem',
    'jesteś człowiekiem',
    'не робот',
    'вы человек',
    'robot değilim',
    'ロボットではあり',
    '人間であること',
  ],
];
/**
 * The same beside a place that only runs commands. A captcha alone is none: honest help pages have one in the form below them ("protected by
 * reCAPTCHA", "CAPTCHA verification is required").
 */
const HUMAN_OR_CAPTCHA = [
  ...HUMAN,
  ...['the captcha', 'this captcha', 'solve captcha', 'das captcha', 'le captcha', 'el captcha', 'il captcha'],
  ...[' o captcha', 'капчу'],
];
/** Claims that this repairs an error or opens a file: honest instructions begin like that too. */
const PRETEXTS = [
  ...['went wrong', 'how to fix', 'fix it', 'error', 'failed', 'unable to', 'cannot be', 'not installed', 'shared'],
  ...['to access', 'to view', 'to join', 'microphone', 'beheben', 'fehler', 'geteilt', 'erreur', 'partagé', 'corriger'],
  ...['errore', 'condivis', 'compartid', 'compartilhad', 'erro ', 'fout', 'gedeeld', 'błąd', 'udostępnion', 'ошибк'],
  ...['исправ', 'hata', 'paylaş', 'エラー', '共有'],
];
/** The most characters between the words of one instruction. */
const REACH = 600;

/** Writes into the clipboard, and a command that loads or conceals what it runs. */
const COPIES = /writeText|execCommand|clipboardData/;
const COMMAND = /powershell|pwsh|mshta|cmd(\.exe)?\s*\/c|\bcurl\b|scriptblock\]::create/i;
const LOADS = /https?:|\birm\b|\biwr\b|invoke-|frombase64|\s-enc|hidden/i;

/**
 * Pages that tell visitors to paste and run a command ("ClickFix"): to prove to be human, which no honest installation needs, or under another
 * pretext if a script of the page copies such a command.
 */
export const pasteToRun: Detector<'documents'> = {
  name: 'paste_to_run',
  needs: ['documents'],
  detect: ({ documents }) =>
    oneTag(
      'paste_to_run',
      seenPages(documents).flatMap((page) => {
        const text = instructionOf(page);
        return text === null ? [] : { landing: page.landing, text };
      }),
    ),
};

/** What a page tells visitors to do; null: no such thing, or the page is about it. Pure. */
function instructionOf({ text, html }: SeenPage): string | null {
  if (discusses(text)) return null;
  const seen = singleSpaced(text);
  const toProve = placeIn(seen, RUN_ONLY, HUMAN_OR_CAPTCHA) ?? placeIn(seen, RUN, HUMAN);
  if (toProve) return `"${toProve}" to prove to be human`;
  const copying = html.filter((one) => COPIES.test(one));
  // Most pages show the instruction after a click, when the command is in the clipboard.
  for (const hidden of copying.map((one) => singleSpaced(wordsOf(one).slice(0, HIDDEN_LENGTH)))) {
    const place = placeIn(hidden, RUN_ONLY, HUMAN_OR_CAPTCHA);
    if (place) return `"${place}" to prove to be human, shown later`;
  }
  const copies = copying.flatMap(inlineScripts).some((one) => COPIES.test(one) && COMMAND.test(one) && LOADS.test(one));
  const toRepair = copies ? placeIn(seen, RUN_ONLY, PRETEXTS) : null;
  return toRepair && `"${toRepair}" under a pretext, with a command that a script copies`;
}

/** In lower case, with a space for any white space and for letters of icon fonts, which belong to no alphabet. */
const singleSpaced = (text: string): string => lowerCase(text).replace(/[\s\p{Co}]+/gu, ' ');

/** The place in which visitors are told to paste something, beside a reason; null: in none. Pure. */
function placeIn(text: string, places: RegExp, reasons: readonly string[]): string | null {
  for (const { 0: place, index } of text.matchAll(places).take(PLACES_MAX)) {
    const around = text.slice(Math.max(0, index - REACH), index + REACH);
    const has = (words: readonly string[]) => words.some((one) => around.includes(one));
    const isExplorer = !ADDRESS_BARS.includes(place) || has(EXPLORERS);
    if (isExplorer && has(PASTE) && has(reasons) && !discusses(around)) return place;
  }
  return null;
}
