import { safeText } from './safe-text.ts';

const GAP = '  ';
/** A column is not made narrower than this. */
const NARROWEST = 6;
const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Extended_Pictographic}/u;

const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' });
const partsOf = (text: string): string[] => Array.from(graphemes.segment(text), ({ segment }) => segment);
const widthOfPart = (part: string): number => (WIDE.test(part) ? 2 : 1);
/** Most texts, in which each character is a cell. */
const PLAIN = /^[\x20-\x7e]*$/;
const widthOf = (text: string): number =>
  PLAIN.test(text) ? text.length : partsOf(text).reduce((sum, part) => sum + widthOfPart(part), 0);

/**
 * Lines of a table whose columns are cut so that each line fits into `width` terminal cells; the widest columns are cut first, and the last column is
 * dropped while even that is not enough. Pure. `style` gets each finished cell.
 */
export function table(
  headers: string[],
  rows: string[][],
  width: number,
  style: (cell: string, column: number, row: string[] | null) => string = (cell) => cell,
): string[] {
  const cells = [headers, ...rows.map((row) => row.map(safeText))];
  const widths = fit(
    // Not as arguments of one call: a list may have more rows than a call has room for.
    headers.map((_, at) => cells.reduce((most, row) => Math.max(most, widthOf(row[at]!)), 0)),
    width,
  );
  return cells.map((row, line) =>
    widths
      .map((space, at) => {
        const text = cut(row[at]!, space);
        const filled = at === widths.length - 1 ? text : text + ' '.repeat(space - widthOf(text));
        return style(filled, at, line === 0 ? null : row);
      })
      .join(GAP),
  );
}

function fit(widths: number[], width: number): number[] {
  const fitted = [...widths];
  const total = () => fitted.reduce((sum, one) => sum + one, 0) + GAP.length * (fitted.length - 1);
  while (total() > width) {
    const widest = Math.max(...fitted);
    if (widest > NARROWEST) fitted[fitted.indexOf(widest)] = Math.max(NARROWEST, widest - (total() - width));
    else if (fitted.length > 1) fitted.pop();
    else return [Math.max(1, width)];
  }
  return fitted;
}

/** The text within this many cells, with an ellipsis if it was longer. */
function cut(text: string, space: number): string {
  if (widthOf(text) <= space) return text;
  let kept = '';
  let used = 1;
  for (const part of partsOf(text)) {
    used += widthOfPart(part);
    if (used > space) break;
    kept += part;
  }
  return `${kept}…`;
}
