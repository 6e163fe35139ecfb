import type { CapturedBody } from '@adsweep/shared/capture/artifacts.ts';
import { lowerCase } from '../../evidence/lower-case.ts';
import { type Detector, oneTag } from '../detector.ts';
import { withLatinLetters } from './look-alikes.ts';
import { inlineScripts, isScript } from './malicious-script.ts';
import { wordsOf } from './markup.ts';
import { withoutReports } from './phrase.ts';
import { asRead, isAboutDeception, type SeenPage, seenPages } from './seen-page.ts';

/**
 * Windows + R (a dialog) and Windows + X (a menu), in words or with a symbol for the key, in texts with single spaces.
 */
const KEYS = [
  '(?:\\bwin(?:dows)?|윈도우|[⊞🪟])[^\\p{L}\\p{N}+]{0,6}(?:(?:key|button|logo|tasten?|tangenten|icon|toets|tuşu|tuşuna|klávesa|klávesu|клавиша|клавишу|キー|键|鍵|키|ปุ่ม)[^\\p{L}\\p{N}+]{0,6}){0,2}',
  '(?:[+–-][^\\p{L}\\p{N}]{0,3}|(?:plus|and|then|press|tap|hit|und|dann|et|y|e|i|и|ve|en|och|og|ja|és|și|dan|và|a|та|και|و)[^\\p{L}\\p{N}]{1,3}',
  // Written without spaces.
  '|(?:と|和|跟|與|与|와|과|및|และ)[^\\p{L}\\p{N}]{0,3}){1,3}',
  '[rx](?![\\p{Script=Latin}\\p{N}])',
].join('');
/** The dialog itself. */
const DIALOGS = [
  ...['run dialog', 'run window', 'run box', 'run prompt', 'ausführen-dialog', 'ausführen-fenster'],
  ...['dialogue exécuter'],
  ...['cuadro ejecutar', 'finestra esegui', 'окно выполнить', 'ファイル名を指定して実行'],
];
/** The address bar of the file explorer, which runs commands too ("FileFix"). */
const ADDRESS_BARS = [
  ...['address bar', 'adressleiste', 'adresszeile', "barre d'adresse", 'barra de direcciones', 'barra de endereço'],
  ...['barra degli indirizzi', 'adresbalk', 'pasku adresu', 'адресную строку', 'adres çubuğu', 'アドレスバー'],
];
const EXPLORERS = [
  ...['file explorer', 'windows explorer', 'datei-explorer', 'windows-explorer', 'explorateur'],
  ...['explorador de archivos'],
  ...['explorador de arquivos', 'eksplorator', 'verkenner', 'esplora file', 'проводник', 'gezgini', 'エクスプローラー'],
];
/** The keys that select it. */
const BAR_KEYS =
  '(?<![\\p{L}\\p{N}])(?:(?:ctrl|strg|control)[^\\p{L}\\p{N}]{1,6}l|alt[^\\p{L}\\p{N}]{1,6}d)(?![\\p{L}\\p{N}])';
const IS_BAR_KEYS = new RegExp(`^${BAR_KEYS}$`, 'u');
/** Places that only run commands, and with them others in which commands are typed. */
const RUN_ONLY = new RegExp([KEYS, ...DIALOGS, ...ADDRESS_BARS, BAR_KEYS].join('|'), 'gu');
/** Not "terminale", a year of French schools, nor where visitors pay or depart. */
const TERMINALS = [
  '(?<!\\p{L}|(?:payment|pos|card|bus|ferry|airport|cruise|passenger|container|trading) )terminal(?!\\p{L})',
  '(?:il|nel) terminale',
  // The console of a browser, which runs scripts as the page.
  '(?<![\\p{L}\\p{N}])f12(?![\\p{L}\\p{N}])',
  'developer (?:tools|console)',
  'powershell',
];
const RUN = new RegExp([KEYS, ...DIALOGS, ...ADDRESS_BARS, BAR_KEYS, ...TERMINALS].join('|'), 'gu');
/** The most places that are looked at: a text that repeats them says nothing new. */
const PLACES_MAX = 200;
/** Characters of a document's words, shown or not, that are searched. */
const HIDDEN_LENGTH = 200_000;
/** The keys, or the word: no part of another, such as "toothpaste" or "école". */
const PASTE = new RegExp(
  [
    '(?:ctrl|control|strg|cmd|command|⌘)[^\\p{L}\\p{N}]{0,6}(?:(?:key|and|then|plus|press|tap|hit|und|et|y|e|i|и|ve|en|och|og|ja|dan|và)[^\\p{L}\\p{N}]{1,3}|(?:键|鍵|키)?[^\\p{L}\\p{N}]{0,3}(?:と|和|跟|與|与|와|과|및|และ)[^\\p{L}\\p{N}]{0,3}){0,3}v(?![\\p{Script=Latin}\\p{N}])',
    '(?:shift|umschalt|maj)[^\\p{L}\\p{N}]{0,6}ins(?:ert)?(?!\\p{L})',
    '(?<!\\p{L})(?:paste[ds]?|pasting|pega|pegue|cole|colar|plak|plakken)(?!\\p{L})',
    '(?<!\\p{L})(?:einfügen|coller|collez|pegar|pégal|péguel|incolla|вставьте|wklej|yapiştir)',
    '貼り付け|ペースト|粘贴|貼上|붙여 ?넣',
  ].join('|'),
  'u',
);
/** Claims that this proves the visitor to be human, which no honest installation needs. */
export const HUMAN = asRead([
  ...['not a robot', 'not a bot', 'are human', 'are a human', "you're human", "you're a human", 'i am human'],
  ...['are a real person', 'are a real human', "you're a real person", "you're a real human"],
  ...['human verification', 'verify humanity', 'prove your humanity', 'kein roboter', 'mensch sind', 'sie ein mensch'],
  ...['du ein mensch', 'bin ein mensch', 'pas un robot', 'êtes humain', 'êtes un humain', 'êtes un être humain'],
  ...['no soy un robot', 'no eres un robot', 'no es un robot', 'eres humano', 'soy humano', 'que es humano'],
  ...['es un ser humano', 'eres un ser humano', 'soy un ser humano', 'non sono un robot', 'non sei un robot'],
  ...['sei umano', 'di essere umano', 'sono umano', 'sei un essere umano', 'não sou um robô'],
  ...['não é um robô', 'você é humano'],
  ...['que é humano', 'sou humano', 'geen robot', 'u een mens', 'je een mens', 'een mens bent', 'ben een mens'],
  ...['nie jestem robotem', 'nie jesteś robotem', 'jesteś człowiekiem', 'jestem człowiekiem', 'не робот', 'вы человек'],
  ...['robot değil', 'robot olmadi', 'insan olduğunuz', 'ロボットではあり', 'ロボットではない', '人間であること'],
  ...['not robot', 'inte en robot', 'inte är en robot', 'ikke en robot', 'ikke er en robot'],
  ...['et ole robotti', 'ole robotti'],
  ...['nejste robot', 'nejsem robot', 'jste člověk', 'nie ste robot', 'nu sunteți un robot'],
  ...['nu ești un robot', 'nu sunt robot'],
  ...['nem robot', 'δεν είστε ρομπότ', 'δεν είσαι ρομπότ', 'не є роботом', 'ви людина', 'bukan robot'],
  ...['adalah manusia'],
  ...['không phải là robot', 'không phải robot', 'không phải là người máy', 'là con người', 'ไม่ใช่หุ่นยนต์', 'ไม่ใช่โรบอท'],
  ...['لست روبوت', 'لست برنامج روبوت', 'أنك إنسان', 'אינך רובוט', 'אני לא רובוט', 'रोबोट नहीं', 'आप मानव हैं'],
  ...[
    '로봇이 아닙니다',
    '로봇이 아님',
    '사람인지',
    '사람임을',
    '不是机器人',
    '不是機器人',
    '是真人',
    '并非机器人',
    '並非機器人',
  ],
]);
/**
 * The same beside a place that only runs commands. A captcha alone is none: honest help pages have one in the form
 * below them ("protected by reCAPTCHA", "CAPTCHA verification is required").
 */
const HUMAN_OR_CAPTCHA = [
  ...HUMAN,
  ...['the captcha', 'this captcha', 'solve captcha', 'das captcha', 'le captcha', 'el captcha', 'il captcha'],
  ...[' o captcha', 'капчу'],
];
/** Claims that this repairs an error or opens a file: honest instructions begin like that too. */
const PRETEXTS = [
  ...['went wrong', 'how to fix', 'fix it', 'error', 'failed', 'unable to', 'cannot be', 'not installed', 'shared'],
  ...['to access', 'to view', 'to join', 'microphone', 'verif', 'captcha', 'ran into a problem', 'to recover'],
  ...['working on updates', 'beheben', 'fehler', 'geteilt', 'erreur'],
  ...['partagé', 'corriger', 'errore', 'condivis', 'compartid', 'compartilhad', 'erro ', 'fout', 'gedeeld', 'błąd'],
  ...['udostępnion'],
  ...['ошибк', 'исправ', 'hata', 'paylaş', 'エラー', '共有'],
];
/**
 * What a tutorial names to be typed or pasted: tools of the system, its folders, and package managers. A page that asks
 * for a proof hides the command, or it loads something. A captcha beside a tutorial is that of the comments below it.
 */
const TYPED =
  /(?<![\p{L}\p{N}])(?:regedit|msconfig|dxdiag|winver|diskmgmt|taskmgr|cleanmgr|[a-z]{4,12}\.(?:msc|cpl)|sfc \/scannow|chkdsk|ipconfig|ping [\d.]+|netsh |dism |winget (?:install|upgrade)|sudo (?:apt|dnf|yum|pacman)|apt(?:-get)? install|brew install|npm (?:i|install)|pip3? install|git clone|%(?:appdata|localappdata|temp|userprofile|programdata)%|shell:startup)/u;

/** What is done with keys and dialogs, and what forbids it directly before it. By language: English, German, ... */
const HANDLED =
  'press|hit|push|use|open|type|enter|paste|run|execute|drücken|öffnen|fügen|nutzen|verwenden|appuyez|ouvrez|utilisez|collez|presione|pulse|pulses|abra|abras|use|pegue|pegues|pressione|cole|premere|premete|aprire|incollare|druk|open|plak|naciskaj|otwieraj|wklejaj|нажимайте|открывайте|вставляйте';
const FORBIDDEN =
  "never|do not|don't|must not|should not|shouldn't|niemals|nie|nicht|keinesfalls|ne|nunca|jamás|no|jamais|não|non|mai|nooit|niet|nigdy|никогда|не";
/**
 * A sentence that forbids what its end names: "Never press Windows + R", "drücken Sie niemals". Only "or" leads on to
 * another thing that it forbids, so that "do not close this page, press" is an order.
 */
const FORBIDS = new RegExp(
  [
    `(?<!\\p{L})(?:(?:${FORBIDDEN}) (?:ever |nie )?(?:${HANDLED})|(?:${HANDLED}) (?:sie |du |bitte )*(?:niemals|nie|nicht|keinesfalls|jamais|nooit|niet))(?!\\p{L})`,
    `(?:[^\\S\\n]+(?:(?:or|and|nor|oder|und|ou|et|o|y|e|of|en|ani|i|или|и) (?:${HANDLED})|(?!(?:${HANDLED})(?!\\p{L}))[^\\s.!?:;,]+)){0,6}\\s*$`,
  ].join(''),
  'u',
);
/** Characters before a place in which a sentence may forbid it. */
const FORBIDS_REACH = 100;

/** The most characters between the words of one instruction. */
const REACH = 600;

/** A larger file is a bundle, which contains everything somewhere. */
const SCRIPT_OF_PAGE_MAX = 20_000;
/** Writes into the clipboard, or what is dragged, and a command that loads or conceals what it runs. */
const COPIES = /writeText|execCommand|clipboardData|ClipboardItem|dataTransfer\.setData/;
const COMMAND =
  /powershell|pwsh|mshta|msiexec|rundll32|regsvr32|[cw]script(\.exe)?\s|certutil|bitsadmin|conhost|\bfinger\s|nslookup|cmd(\.exe)?\s*\/c|\bcurl\b|scriptblock\]::create/i;
const LOADS = /https?:|\\\\[\w.-]+\\|\birm\b|\biwr\b|invoke-|frombase64|\s-enc|hidden|\bfinger\s+\S*@|\bnslookup\b/i;

/**
 * Pages that tell visitors to paste and run a command ("ClickFix"): to prove to be human, which no honest installation
 * needs, or under another pretext if a script of the page copies such a command.
 */
export const pasteToRun: Detector<'documents' | 'bodies'> = {
  name: 'paste_to_run',
  needs: ['documents', 'bodies'],
  detect: ({ documents, bodies }) =>
    oneTag(
      'paste_to_run',
      seenPages(documents).flatMap((page) => {
        const text = instructionOf(page, bodies);
        return text === null ? [] : { landing: page.landing, text };
      }),
    ),
};

/** What a page tells visitors to do; null: no such thing, or the page is about it. Pure. */
function instructionOf(page: SeenPage, bodies: readonly CapturedBody[]): string | null {
  if (isAboutDeception(page)) return null;
  const { own, html } = page;
  const seen = singleSpaced(own);
  const copying = html.filter((one) => COPIES.test(one));
  let isCopied: boolean | undefined;
  const copiesCommand = (): boolean =>
    (isCopied ??= scriptsOf(copying, bodies).some((one) => COPIES.test(one) && loads(one)));
  const isHarmless = (around: string) => TYPED.test(around) && !copiesCommand();
  const find = (among: string, places: RegExp, reasons: readonly string[]) =>
    placeIn(among, places, reasons, isHarmless);
  const toProve = find(seen, RUN_ONLY, HUMAN_OR_CAPTCHA) ?? find(seen, RUN, HUMAN);
  if (toProve) return `"${toProve}" to prove to be human`;
  // Most pages show the instruction after a click, when the command is in the clipboard.
  for (const one of copying) {
    const place = find(hiddenWords(one), RUN_ONLY, HUMAN_OR_CAPTCHA);
    if (place) return `"${place}" to prove to be human, shown later`;
  }
  // Many honest scripts copy something, and few pages ask for such a proof.
  const mayCopy = HUMAN.some((one) => seen.includes(one)) && bodies.some(copiesSomething);
  for (const one of mayCopy ? html : []) {
    const place = find(hiddenWords(one), RUN_ONLY, HUMAN);
    if (place) return `"${place}" to prove to be human, shown later`;
  }
  const toRepair = find(seen, RUN_ONLY, PRETEXTS);
  return toRepair && copiesCommand() ? `"${toRepair}" under a pretext, with a command that a script copies` : null;
}

/** The scripts of a page that may be its own: those in it, and small files. */
function scriptsOf(html: readonly string[], bodies: readonly CapturedBody[]): string[] {
  const files = bodies.filter((body) => isScript(body) && body.bytes <= SCRIPT_OF_PAGE_MAX);
  return [...html.flatMap(inlineScripts), ...files.map((body) => body.text ?? '')];
}

/** Whether a script has a command that loads or conceals what it runs. */
const loads = (script: string): boolean => COMMAND.test(script) && LOADS.test(script);

/** Whether the script in a file writes into the clipboard. */
const copiesSomething = (body: CapturedBody): boolean =>
  isScript(body) && COPIES.test(body.text ?? body.excerpts ?? '');

/** The words of a document, shown or not, without what they report of deception. */
const hiddenWords = (html: string): string =>
  singleSpaced(withoutReports(lowerCase(withLatinLetters(wordsOf(html).slice(0, HIDDEN_LENGTH).normalize('NFKC')))));

/** In lower case, with a space for any white space and for letters of icon fonts, which belong to no alphabet. */
const singleSpaced = (text: string): string => lowerCase(text).replace(/[\s\p{Co}]+/gu, ' ');

/**
 * The place in which visitors are told to paste something, beside a reason, and not `isHarmless` by the words around
 * it; null: in none. Pure.
 */
function placeIn(
  text: string,
  places: RegExp,
  reasons: readonly string[],
  isHarmless: (around: string) => boolean,
): string | null {
  for (const { 0: place, index } of text.matchAll(places).take(PLACES_MAX)) {
    const around = text.slice(Math.max(0, index - REACH), index + REACH);
    const has = (words: readonly string[]) => words.some((one) => around.includes(one));
    if (FORBIDS.test(text.slice(Math.max(0, index - FORBIDS_REACH), index))) continue;
    const isExplorer = !(ADDRESS_BARS.includes(place) || IS_BAR_KEYS.test(place)) || has(EXPLORERS);
    if (isExplorer && PASTE.test(around) && has(reasons) && !isHarmless(around)) return place;
  }
  return null;
}
