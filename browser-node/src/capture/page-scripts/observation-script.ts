import { cancelAppNavigations } from './cancel-app-navigations.ts';
import type { Natives } from './natives.ts';
import { nativesScript } from './natives.ts';
import { boundAttempts, watchMedia, watchWebAudio } from './sound.ts';
import { watchFingerprints } from './watch-fingerprints.ts';
import { watchHistory } from './watch-history.ts';
import { watchTimers } from './watch-timers.ts';
import { watchUnpromptedCalls } from './watch-unprompted-calls.ts';

/**
 * JavaScript that runs in every document before its own scripts and tells what it does by itself. What it tells goes to the console,
 * which no page can read, marked with a token: `<token>|sound|<id>|<via>|<muted>|<volume>|<started>|<has audio>`,
 * `<token>|history|<length or push>|<count>|<copy>`, `<token>|unprompted-call|<what>|<whether a click just came>`,
 * `<token>|app-navigation|<url>`, `<token>|timer|<ms>`, `<token>|fingerprint|<trait>|<times since it was last told>`. Strict, so that no function of it can be reached by its callers.
 */
export const observationScript = (token: string): string => `(() => {
'use strict';
const natives = ${nativesScript};
const say = console.debug.bind(console);
const begin = (${boundAttempts})((line) => say('${token}|sound|' + line));
(${watchMedia})(natives, begin);
(${watchWebAudio})(natives, begin);
(${interruptCalls})(natives);
(${watchUnpromptedCalls})(natives, (call, byUser) => say('${token}|unprompted-call|' + call + '|' + byUser));
(${watchFingerprints})(natives, (trait, times) => say('${token}|fingerprint|' + trait + '|' + times));
(${watchTimers})(natives, (ms) => say('${token}|timer|' + ms));
(${cancelAppNavigations})(natives, (url) => say('${token}|app-navigation|' + url));
(${watchHistory})(natives, (event, count, copy) => say('${token}|history|' + event + '|' + count + '|' + copy));
})();`;

/**
 * Runs in the page: each call that shows a dialog or writes to the console enters a JavaScript function first. There V8 looks whether it
 * was told to stop; in a loop that calls nothing but native functions it does so only after some hundred turns, each of which would be a
 * dialog, or a line of megabytes.
 */
export function interruptCalls({ precede }: Natives): void {
  for (const name of ['alert', 'confirm', 'prompt', 'print']) precede(window, name, () => undefined);
  const lines = ['log', 'info', 'warn', 'error', 'debug', 'dir', 'dirxml', 'table', 'trace', 'group', 'groupCollapsed'];
  for (const name of [...lines, 'assert', 'count', 'timeLog']) precede(console, name, () => undefined);
}
