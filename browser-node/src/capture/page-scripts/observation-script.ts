import { isInitialDocument } from '../../browser/page-scripts/initial-document.ts';
import { answerDialogs } from './answer-dialogs.ts';
import { cancelAppNavigations } from './cancel-app-navigations.ts';
import { nativesScript } from './natives.ts';
import { boundAttempts, watchMedia, watchSpeech, watchWebAudio } from './sound.ts';
import { watchActivation } from './watch-activation.ts';
import { watchDrawnText } from './watch-drawn-text.ts';
import { watchFingerprints } from './watch-fingerprints.ts';
import { watchHistory } from './watch-history.ts';
import { watchMessages } from './watch-messages.ts';
import { watchTimers } from './watch-timers.ts';
import { watchUnpromptedCalls } from './watch-unprompted-calls.ts';

/**
 * JavaScript that runs in every document before its own scripts and reports what the document does without a click.
 * Reports go through a function that Chromium defines under the name `reportBy`, which is removed before the page can
 * see it, and begin with a token: `<token>|sound|<id>|<via>|<muted>|<volume>|<started>|<has audio>`,
 * `<token>|history|<length or push>|<count>|<copy>`, `<token>|unprompted-call|<what>|<whether a click just came>`,
 * `<token>|app-navigation|<url>`, `<token>|timer|<subject>|<ms>`, `<token>|fingerprint|<trait>|<times since the last
 * report>`, `<token>|drawn-text|<texts with their places>`, `<token>|message-flood|<origin>`, `<token>|activation`,
 * `<token>|dialog`. `mark`: as in `nativesScript`. Strict, so that no function of it can be reached by its callers.
 */
export const observationScript = (token: string, reportBy: string, mark: string): string => `(() => {
'use strict';
if ((${isInitialDocument})()) return;
const natives = ${nativesScript(mark)};
const report = (${boundReports})('${reportBy}');
const begin = (${boundAttempts})((line) => report('${token}|sound|' + line));
(${watchMedia})(natives, begin);
(${watchWebAudio})(natives, begin);
(${watchSpeech})(natives, begin);
(${answerDialogs})(natives, () => report('${token}|dialog'));
(${watchUnpromptedCalls})(natives, (call, byUser) => report('${token}|unprompted-call|' + call + '|' + byUser));
const noteDrawn = (${watchDrawnText})(natives, (texts) => report('${token}|drawn-text|' + texts));
(${watchFingerprints})(natives, (trait, times) => report('${token}|fingerprint|' + trait + '|' + times), noteDrawn);
(${watchTimers})(natives, (subject, ms) => report('${token}|timer|' + subject + '|' + ms));
(${watchActivation})(natives, () => report('${token}|activation'));
(${watchMessages})(natives, (origin) => report('${token}|message-flood|' + origin));
(${cancelAppNavigations})(natives, (url) => report('${token}|app-navigation|' + url));
(${watchHistory})(natives, (event, count, copy) => report('${token}|history|' + event + '|' + count + '|' + copy));
})();`;

/**
 * Runs in the page: takes the function by which reports reach us, and reports at most this many times per document: a
 * page may do what is reported without end.
 */
function boundReports(name: string): (line: string) => void {
  const REPORTS_MAX = 2_000;
  const own = globalThis as unknown as Record<string, (line: string) => void>;
  const report = own[name];
  delete own[name];
  let left = REPORTS_MAX;
  return (line) => {
    if (left-- > 0) report?.(line);
  };
}
