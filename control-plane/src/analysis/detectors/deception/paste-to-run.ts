import type { Detector } from '../detector.ts';
import { oneTag } from '../detector.ts';
import { discusses } from './phrase.ts';
import { seenPages } from './seen-page.ts';

/** Places in which commands are typed. */
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
/** Claims that this proves the visitor to be human, which no honest installation needs. */
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
/** The most characters between the words of one instruction. */
const REACH = 600;

/** Pages that tell visitors to prove to be human by pasting and running a command ("ClickFix"). */
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

/** The place in which visitors are told to run a command; null: in none. Pure. */
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
