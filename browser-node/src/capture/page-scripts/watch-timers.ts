import type { Natives } from './natives.ts';

/**
 * Runs in the page: reports timers whose source contains a navigation, and in how many ms they are due. Only the tab's own document is
 * watched, and only timers of more than a second: for all others a call costs no more than a comparison.
 */
export function watchTimers({ precede, sourceOf }: Natives, report: (ms: number) => void): void {
  if (window.parent !== window) return;
  const [DELAY_MIN, DELAY_MAX, COUNTDOWN_MS, REPORTS_MAX] = [1_000, 7_900, 7_900, 20];
  const NAVIGATES =
    /\blocation\s*(=[^=]|\.\s*(href|search|pathname)\s*=[^=]|\[|\.\s*(assign|replace|reload)\b)|\.\s*(submit|click)\s*\(\s*\)|\bwindow\s*\.\s*open\b|\bnavigation\s*\.\s*navigate\b/;
  const COUNTS_DOWN = /--|-=|[<>]=?\s*[01]\b|===?\s*0\b/;
  const matches = (pattern: RegExp) =>
    Function.prototype.call.bind(RegExp.prototype.exec, pattern) as (text: string) => unknown;
  const [navigates, countsDown] = [matches(NAVIGATES), matches(COUNTS_DOWN)];
  let reports = 0;
  const announce = (ms: number) => {
    if (reports++ < REPORTS_MAX) report(ms);
  };
  precede(window, 'setTimeout', (_, script, delay) => {
    const ms = typeof delay === 'object' ? 0 : +(delay as number);
    if (ms > DELAY_MIN && ms <= DELAY_MAX && navigates(sourceOf(script))) announce(ms);
  });
  precede(window, 'setInterval', (_, script, delay) => {
    const ms = typeof delay === 'object' ? 0 : +(delay as number);
    if (ms < DELAY_MIN / 4 || ms > DELAY_MAX) return;
    const source = sourceOf(script);
    if (navigates(source) && countsDown(source)) announce(COUNTDOWN_MS);
  });
}
