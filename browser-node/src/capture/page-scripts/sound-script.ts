import { nativesScript } from './natives.ts';
import { watchMedia } from './watch-media.ts';
import { watchWebAudio } from './watch-web-audio.ts';

/**
 * JavaScript that runs in every document before its own scripts and tells of attempts to play sound that nobody asked for. What it tells
 * goes to the console, which no page can read, marked with a token:
 * `<token>|<id>|<via>|<muted>|<volume>|<started>|<has audio>`.
 */
export const soundScript = (token: string): string => `(() => {
const natives = ${nativesScript};
const say = console.debug.bind(console);
const tell = (id, via, muted, volume, started, audio) =>
  say('${token}|' + id + '|' + via + '|' + muted + '|' + volume + '|' + started + '|' + audio);
(${watchMedia})(natives, tell);
(${watchWebAudio})(natives, tell);
})();`;
