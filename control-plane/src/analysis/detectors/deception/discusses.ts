import { countWords } from './phrase.ts';

/** How those speak who warn of deception and do not commit it. */
const WARNINGS = [
  ...['scam', 'scareware', 'fake ', 'hoax', 'malvertising', 'social engineering', 'clickfix', 'impersonat'],
  ...['betrug', 'betrüg', 'masche', 'gefälscht', 'falsche ', 'arnaque', 'escroquer', 'faux ', 'fausse'],
  ...['estafa', 'engaño', 'falso', 'falsa', 'truffa', 'raggiro', 'golpe ', 'golpista', 'oplicht', 'nep-', 'neppe'],
  ...['oszust', 'fałszyw', 'мошенни', 'поддельн', 'фальшив', 'dolandırıcı', 'sahte ', '詐欺', '偽'],
];
const WARNINGS_MIN = 2;

/** Whether a text, as `readableText` gives it, is about deception: an article, a warning, a documentation. Pure. */
export const discusses = (text: string): boolean => countWords(text, WARNINGS, WARNINGS_MIN) >= WARNINGS_MIN;
