import { interruptCalls } from './interrupt-calls.ts';
import { nativesScript } from './natives.ts';
import { boundAttempts } from './sound-attempts.ts';
import { watchFingerprints } from './watch-fingerprints.ts';
import { watchHistory } from './watch-history.ts';
import { watchMedia } from './watch-media.ts';
import { watchTimers } from './watch-timers.ts';
import { watchUnpromptedCalls } from './watch-unprompted-calls.ts';
import { watchWebAudio } from './watch-web-audio.ts';

/**
 * JavaScript that runs in every document before its own scripts and tells what it does by itself. What it tells goes to the console,
 * which no page can read, marked with a token: `<token>|sound|<id>|<via>|<muted>|<volume>|<started>|<has audio>`,
 * `<token>|history|<length or push>|<count>|<copy>`, `<token>|unprompted-call|<what>|<whether a click just came>`,
 * `<token>|timer|<ms>`, `<token>|fingerprint|<trait>|<times since it was last told>`. Strict, so that no function of it can be reached by its callers.
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
(${watchHistory})(natives, (event, count, copy) => say('${token}|history|' + event + '|' + count + '|' + copy));
})();`;
