import { type BoxVisibility, FONT_PX_MIN, VISIBILITIES, type Visibility, visibilityInFrame } from './box-visibility.ts';
import type { Rect } from './page-rect.ts';
import type { SnapshotDocument } from './snapshot-document.ts';

/**
 * The text of a document: first what is in the viewport, then what is elsewhere on the page, then what no visitor sees.
 * `viewportLength`: characters that are in the viewport; `pageLength`: those, and the ones elsewhere on the page.
 */
export type DocumentText = { text: string; viewportLength: number; pageLength: number };

/**
 * A piece of text as it is laid out: `first` and `last` are its first and last lines, `outer` is the block around its
 * block.
 */
type Piece = { text: string; visibility: Visibility; block: number; outer: number; first: Rect; last: Rect };

/**
 * Reads the text of a document whose frame has the visibility `frame`. `drawn`: what was drawn on its canvases, which
 * is read where the largest of them is. Pure; takes linear time in the number of boxes.
 */
export function readDocumentText(
  document: SnapshotDocument,
  boxes: BoxVisibility,
  frame: Visibility,
  drawn: string,
): DocumentText {
  const pieces = piecesOf(document, boxes, drawn);
  const [viewport = '', page = '', unseen = ''] = VISIBILITIES.map((one) =>
    textOf(pieces.filter(({ visibility }) => visibilityInFrame(frame, visibility) === one)),
  );
  const seen = joined(viewport, page);
  return { text: joined(seen, unseen), viewportLength: viewport.length, pageLength: seen.length };
}

const joined = (a: string, b: string): string => (a === '' ? b : b === '' ? a : `${a}\n${b}`);

function piecesOf(document: SnapshotDocument, boxes: BoxVisibility, drawn: string): Piece[] {
  const lines = document.lines();
  const values = shownValues(document);
  if (drawn !== '') values.set(largestCanvas(document), drawn);
  const pieces: Piece[] = [];
  for (let box = 0; box < document.boxCount; box++) {
    const text = textInBox(document, box, values);
    if (text === '' || document.styleOf(box, 'visibility') !== 'visible') continue;
    const [first, last] = lines.get(box) ?? [document.rectOf(box), document.rectOf(box)];
    // White space at the end of a line has no box.
    const isSpace = text.trim() === '' && Number.parseFloat(document.styleOf(box, 'font-size')) >= FONT_PX_MIN;
    const visibility = (isSpace && pieces.at(-1)?.visibility) || boxes.of(box);
    pieces.push({ text, visibility, ...boxes.blocksOf(box), first, last });
  }
  return pieces;
}

/**
 * The text of a box in the order in which it is painted; for an element, that of its first box is its value in
 * `values`.
 */
function textInBox(document: SnapshotDocument, box: number, values: ReadonlyMap<number, string>): string {
  const node = document.nodeOf(box);
  const value = document.firstBoxOf(node) === box ? (values.get(node) ?? '') : '';
  const text = document.isText(box) ? document.textOf(box) : value;
  const isReversed =
    document.styleOf(box, 'unicode-bidi').includes('override') && document.styleOf(box, 'direction') === 'rtl';
  return isReversed ? [...text].reverse().join('') : text;
}

/** Types of inputs that show their value; any unknown type is a text field. */
const WRITTEN_INPUTS = /^(?!password|hidden|checkbox|radio|file|range|color|image)/i;

/** The texts that text fields and buttons show, by node: their values, or placeholders where they are empty. */
function shownValues(document: SnapshotDocument): Map<number, string> {
  const shown = new Map<number, string>();
  for (const [node, value] of document.formValues()) {
    const attributes = document.attributesOf(node);
    if (document.nameOf(node) === 'input' && !WRITTEN_INPUTS.test(attributes.get('type') ?? 'text')) continue;
    shown.set(node, value || (attributes.get('placeholder') ?? ''));
  }
  return shown;
}

/** The canvas with the largest box; -1: none has one. */
function largestCanvas(document: SnapshotDocument): number {
  let largest = -1;
  for (let box = 0; box < document.boxCount; box++) {
    if (document.nameOf(document.nodeOf(box)) !== 'canvas') continue;
    if (largest < 0 || document.areaOf(box) > document.areaOf(largest)) largest = box;
  }
  return largest < 0 ? -1 : document.nodeOf(largest);
}

/** The text of pieces in their order, by lines as they look. */
function textOf(pieces: Piece[]): string {
  let text = '';
  let before: Piece | null = null;
  for (const piece of pieces) {
    text += `${before ? between(before, piece) : ''}${piece.text}`;
    before = piece;
  }
  return text
    .replace(/[^\S\n]+/g, ' ')
    .replace(/ ?\n[\n ]*/g, '\n')
    .trim();
}

/**
 * What separates two pieces: nothing within a line, even of several blocks; a space where a gap is seen; otherwise a
 * line break.
 */
function between(a: Piece, b: Piece): string {
  if (a.block === b.block) return '';
  const height = Math.max(1, a.last.bottom - a.last.top);
  const isSameLine = Math.min(a.last.bottom, b.first.bottom) - Math.max(a.last.top, b.first.top) > height / 2;
  const gap = b.first.left - a.last.right;
  if (isSameLine && gap > -2 && gap <= height * 0.6) return gap <= height * 0.1 ? '' : ' ';
  // Single letters in boxes of their own, at the end of a line and at the beginning of the next.
  const areLetters = a.text.length <= 2 && b.text.length <= 2 && a.outer === b.outer;
  return areLetters && b.first.top > a.last.top && b.first.top - a.last.bottom < height ? '' : '\n';
}
