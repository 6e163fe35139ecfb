import type { Natives } from './natives.ts';

/**
 * Runs in every document: in frames of other origins than the page's, calls that show a dialog return at once, as if
 * the visitor had dismissed it, and are reported. Of two dialogs that two processes open at once, Chromium lets only
 * one be answered (156), and the other process would never run again. Print dialogs, which no headless browser shows,
 * are reported from the second one on, with the first.
 *
 * Elsewhere each such call enters a JavaScript function first, where V8 checks whether the script is to stop. In a loop
 * that calls native functions only, it checks every few hundred iterations, each of which may be a dialog.
 */
export function answerDialogs({ answer, precede }: Natives, report: () => void): void {
  const REPORTS_MAX = 20;
  const { ancestorOrigins } = location;
  const ofPage = ancestorOrigins[ancestorOrigins.length - 1];
  const isForeign = ofPage !== undefined && (origin !== ofPage || origin === 'null');
  let reports = 0;
  const tell = () => {
    if (reports++ < REPORTS_MAX) report();
  };
  const dismiss = (value: unknown) => () => {
    tell();
    return value;
  };
  if (isForeign) {
    answer(window, 'alert', dismiss(undefined));
    answer(window, 'confirm', dismiss(false));
    answer(window, 'prompt', dismiss(null));
  } else for (const name of ['alert', 'confirm', 'prompt']) precede(window, name, () => undefined);
  // A page that prints once has been opened to be printed.
  let prints = 0;
  precede(window, 'print', () => {
    prints += 1;
    if (prints === 2) tell();
    if (prints > 1) tell();
  });
}
