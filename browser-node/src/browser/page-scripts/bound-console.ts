import type { NativeFunctions } from './native-functions.ts';

/** The most lines that one document or worker writes to its console, and the most characters of texts in them. */
export type ConsoleBounds = { lines: number; characters: number };

/**
 * For pages, frames and workers: beyond the bounds, nothing is written to the console. No page can read its console,
 * but the browser handles every line, and a page that writes them without end would keep all other pages waiting.
 */
export function boundConsole({ lines, characters }: ConsoleBounds, natives: NativeFunctions): void {
  const NAMES = [
    ...['log', 'info', 'warn', 'error', 'debug', 'dir', 'dirxml', 'table', 'trace', 'group', 'groupCollapsed'],
    ...['groupEnd', 'clear', 'assert', 'count', 'countReset', 'time', 'timeEnd', 'timeLog', 'timeStamp'],
    ...['profile', 'profileEnd'],
  ];
  let [linesLeft, charactersLeft] = [lines, characters];
  const isWithinBounds = (args: readonly unknown[]): boolean => {
    linesLeft -= 1;
    for (let at = 0; at < args.length; at += 1) {
      const argument = args[at];
      charactersLeft -= typeof argument === 'string' ? argument.length : 1;
    }
    return linesLeft >= 0 && charactersLeft >= 0;
  };
  const bound = (owner: object): void => {
    for (let at = 0; at < NAMES.length; at += 1)
      natives.wrap(owner, NAMES[at] as string, (self, _, original, args) =>
        isWithinBounds(args) ? original(self) : undefined,
      );
  };
  bound(console);
  // Chromium's consoles have another one for each context that a page names.
  natives.wrap(console, 'context', (self, _, original) => {
    const made = original(self) as object;
    bound(made);
    return made;
  });
}
