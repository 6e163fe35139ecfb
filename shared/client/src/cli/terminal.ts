import { styleText } from 'node:util';
import { safeJson, safeText } from './safe-text.ts';
import { table } from './table.ts';

type Style = Parameters<typeof styleText>[0];

/** Where a command writes. */
export type Terminal = ReturnType<typeof terminalOn>;
export type Stream = Pick<NodeJS.WriteStream, 'write'> & { isTTY?: boolean; columns?: number };

const BAR_CELLS = 24;
const CLEAR_LINE = '\r\u001b[2K';
const STYLES: Record<string, Style> = {
  high: 'red',
  failed: 'red',
  open: 'red',
  medium: 'yellow',
  partial: 'yellow',
  escalated: 'yellow',
  low: 'cyan',
  completed: 'green',
  clean: 'green',
};

/** A pseudo-terminal that was never given a size, as in containers and CI, says 0. */
const columnsOf = ({ columns }: Stream): number => columns || 80;

/** Results go to `stdout`, and what is about them (progress, problems) to `stderr`. */
export function terminalOn(
  stdout: Stream,
  stderr: Stream,
  { color, showsPictures }: { color: boolean; showsPictures: boolean },
) {
  const styled = (style: Style, text: string) =>
    color && stdout.isTTY ? styleText(style, text, { validateStream: false }) : text;
  const width = stdout.isTTY ? columnsOf(stdout) : Number.POSITIVE_INFINITY;
  let shown = false;

  /** Replaces the line of progress; on something else than a terminal nothing is shown. */
  const progress = (text: string | null): void => {
    if (!stderr.isTTY || (text === null && !shown)) return;
    shown = text !== null;
    stderr.write(CLEAR_LINE + (text === null ? '' : safeText(text).slice(0, columnsOf(stderr) - 1)));
  };

  return {
    isTerminal: stdout.isTTY === true,
    showsPictures: stdout.isTTY === true && showsPictures,
    progress,

    /** A bar for so many of a total, with a remark. */
    bar(done: number, total: number, remark: string): void {
      const full = total === 0 ? 0 : Math.floor((BAR_CELLS * done) / total);
      progress(`[${'#'.repeat(full)}${'.'.repeat(BAR_CELLS - full)}] ${done}/${total} ${remark}`);
    },

    print(text: string): void {
      progress(null);
      stdout.write(`${safeText(text)}\n`);
    },

    /** A line whose first word is emphasized as the others of its kind are. */
    headline(word: string, text: string): void {
      progress(null);
      stdout.write(`${styled(STYLES[word] ?? 'bold', safeText(word))} ${safeText(text)}\n`);
    },

    json(value: unknown): void {
      progress(null);
      stdout.write(`${safeJson(value)}\n`);
    },

    /** One value of several, on a line of its own. */
    line(value: unknown): void {
      stdout.write(`${safeJson(value, 0)}\n`);
    },

    /** A table that fits the terminal; elsewhere nothing of it is cut. */
    table(headers: string[], rows: string[][]): void {
      progress(null);
      const lines = table(headers, rows, width, (cell, _, row) => {
        const style = row === null ? 'dim' : STYLES[cell.trim()];
        return style ? styled(style, cell) : cell;
      });
      stdout.write(`${lines.join('\n')}\n`);
    },

    bytes(bytes: Uint8Array): void {
      progress(null);
      stdout.write(bytes);
    },

    /** A remark for people: not a result. */
    note(text: string): void {
      progress(null);
      stderr.write(`${safeText(text)}\n`);
    },
  };
}
