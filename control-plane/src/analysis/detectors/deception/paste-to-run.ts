import { oneTag } from '../behaviors/one-tag.ts';
import type { Detector } from '../detector.ts';
import { discusses } from './discusses.ts';
import { seenPages } from './seen-page.ts';

/** Where programs are started by their names. */
const RUN = [
  ...[
    'windows + r',
    'windows+r',
    'win + r',
    'win+r',
    '⊞ + r',
    'windows key + r',
    'windows button + r',
    'windows-taste + r',
    'windowstaste + r',
  ],
  ...[
    'tecla windows + r',
    'touche windows + r',
    'tasto windows + r',
    'клавиши windows + r',
    'run dialog',
    'terminal',
    'powershell',
  ],
];
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
    'yapıştır',
    '貼り付け',
  ],
];
/** That this shows the visitor is no robot. No program needs that to be installed. */
const HUMAN = [
  ...[
    'not a robot',
    'are human',
    "you're human",
    'human verification',
    'captcha',
    'kein roboter',
    'mensch sind',
    'ein mensch',
  ],
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
/** All of it is said within so many characters. */
const REACH = 600;

/** Pages that have the visitor prove that he is human by running a command that they gave him ("ClickFix"). */
export const pasteToRun: Detector<'documents'> = {
  name: 'paste_to_run',
  needs: ['documents'],
  detect: ({ documents }) =>
    oneTag(
      'paste_to_run',
      seenPages(documents).flatMap(({ landing, text }) => {
        const where = instructionIn(text);
        return where === null || discusses(text) ? [] : { landing, text: `"${where}" to prove to be human` };
      }),
    ),
};

/** The place where a command is to be run, null = none is to be. Pure. */
function instructionIn(text: string): string | null {
  for (const word of RUN) {
    const at = text.indexOf(word);
    if (at < 0) continue;
    const around = text.slice(Math.max(0, at - REACH), at + REACH);
    const has = (words: string[]) => words.some((one) => around.includes(one));
    if (has(PASTE) && has(HUMAN)) return word;
  }
  return null;
}
