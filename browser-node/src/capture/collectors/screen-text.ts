import { type DocumentSnapshot, type Snapshot, STYLES, type Style } from '../devtools/dom-snapshot.ts';
import {
  clipOf,
  contains,
  EVERYWHERE,
  intersect,
  isCutAway,
  isSeen,
  NOWHERE,
  type Rect,
  rectOf,
} from './screen-rect.ts';

/** Where a text is: in the viewport, elsewhere on the page, or where no visitor sees it. */
export type Place = 'viewport' | 'page' | 'unseen';
/** A text of a document, in the order of {@link PLACES}; `lengths`: how many characters of it are in the viewport, and on the page. */
export type ScreenText = { text: string; viewportLength: number; pageLength: number };

const PLACES: readonly Place[] = ['viewport', 'page', 'unseen'];
/** A page is seen this far down, in pixels: as far as its screenshot. */
const PAGE_HEIGHT_MAX = 16_383;
const [OPACITY_MIN, FONT_PX_MIN] = [0.1, 2];
/** Less contrast than this is no contrast. */
const CONTRAST_MIN = 1.1;
/** An opaque box of this many square pixels may cover text; and how many of them are considered. */
const [COVER_AREA_MIN, COVERS_MAX] = [10_000, 50];

/** Boxes that are considered behind texts in the colour of their background, and such texts that are looked at. */
const [PAINTS_MAX, PAINT_CHECKS_MAX] = [300, 1_000];

/** Red, green and blue, null: in a notation that is not read; and the opacity. */
type Color = { rgb: number[] | null; alpha: number };
/**
 * What an element passes on to what is in it. `clip`, `absoluteClip`: the part of the page in which its content, and that with an absolute position,
 * can be seen. `block`: the node that begins its lines. `paper`: its background as red, green and blue, null: an image.
 */
type Area = {
  opacity: number;
  own: Rect;
  clip: Rect;
  absoluteClip: Rect;
  block: number;
  paper: number[] | null;
};
const PAGE: Area = {
  ...{ opacity: 1, own: EVERYWHERE, clip: EVERYWHERE, absoluteClip: EVERYWHERE, block: -1 },
  paper: [255, 255, 255],
};

/** A piece of text as it is laid out: `first` and `last` are its first and last lines. */
type Piece = { text: string; place: Place; block: number; parent: number; first: Rect; last: Rect };

/** Reads the documents of a snapshot. Pure; takes linear time in the number of boxes. */
export class ScreenReader {
  readonly #document: DocumentSnapshot;
  readonly #strings: string[];
  readonly #layoutOf: Int32Array;
  readonly #areas: Area[] = [];
  readonly #covers: { rect: Rect; order: number }[] = [];
  readonly #colors = new Map<string, Color>();
  #paints: { node: number; rect: Rect }[] | null = null;
  #paintChecks = 0;
  #lastIn: Int32Array | undefined;
  readonly #styleAt: Record<Style, number> = Object.fromEntries(STYLES.map((name, at) => [name, at])) as never;

  constructor({ strings }: Pick<Snapshot, 'strings'>, document: DocumentSnapshot) {
    this.#document = document;
    this.#strings = strings;
    const { layout, nodes } = document;
    this.#layoutOf = new Int32Array(nodes.parentIndex?.length ?? 0).fill(-1);
    for (let at = layout.nodeIndex.length - 1; at >= 0; at--) this.#layoutOf[layout.nodeIndex[at] as number] = at;
    for (let node = 0; node < this.#layoutOf.length; node++) this.#areas.push(this.#areaOf(node));
    this.#findCovers();
  }

  /** The text of the document, if its frame itself is at `place`. `drawn`: what was drawn on its canvases, read where the largest is. */
  read(place: Place, drawn = ''): ScreenText {
    const pieces = this.#pieces(drawn);
    const texts = PLACES.map((one) => textOf(pieces.filter((piece) => outerPlace(place, piece.place) === one)));
    const [viewport = '', page = '', unseen = ''] = texts;
    const seen = joined(viewport, page);
    return { text: joined(seen, unseen), viewportLength: viewport.length, pageLength: seen.length };
  }

  /** Where the box of an element is; null: it has none. */
  placeOf(node: number): Place | null {
    const at = this.#layoutOf[node] ?? -1;
    if (at < 0) return null;
    return this.#placeOf(this.#areas[node] as Area, at, intersect(this.#rectOf(at), (this.#areas[node] as Area).own));
  }

  /** The node with a backend id; -1: none. */
  nodeOf(backendNodeId: number): number {
    return this.#document.nodes.backendNodeId?.indexOf(backendNodeId) ?? -1;
  }

  /** The backend ids of the elements outside of shadow roots that have one which the page made; those of closed roots first. */
  shadowHosts(): number[] {
    const {
      backendNodeId = [],
      parentIndex = [],
      shadowRootType: { index = [], value = [] } = {},
    } = this.#document.nodes;
    // All nodes in a shadow root are listed with its type.
    const inRoots = new Set(index);
    const hostsOf = (mode: string) =>
      index.flatMap((node, nth) => {
        const host = parentIndex[node] ?? -1;
        return this.#string(value[nth]) === mode && !inRoots.has(host) ? (backendNodeId[host] ?? []) : [];
      });
    return [...new Set([...hostsOf('closed'), ...hostsOf('open')])];
  }

  #areaOf(node: number): Area {
    const parent = this.#areas[this.#document.nodes.parentIndex?.[node] ?? -1] ?? PAGE;
    const at = this.#layoutOf[node] as number;
    const styles = this.#document.layout.styles[at];
    if (at < 0 || !styles || styles.length === 0) return parent;
    const style = (name: Style) => this.#string(styles[this.#styleAt[name]]);
    const position = style('position');
    const own = position === 'fixed' ? EVERYWHERE : position === 'absolute' ? parent.absoluteClip : parent.clip;
    const isPositioned = position !== 'static' || style('transform') !== 'none';
    const isRoot = ['HTML', 'BODY'].includes(this.#nameOf(node));
    const cut = isCutAway(style('clip-path'), style('clip')) ? NOWHERE : own;
    const clip = isRoot ? cut : clipOf(cut, this.#rectOf(at), style('overflow-x'), style('overflow-y'));
    const paint = this.#colorOf(style('background-color'));
    const hasImage = style('background-image') !== 'none' && style('background-clip') !== 'text';
    return {
      opacity: parent.opacity * Number(style('opacity')),
      own: cut,
      clip,
      absoluteClip: isPositioned ? clip : cut === NOWHERE ? NOWHERE : parent.absoluteClip,
      block: /^(inline|contents)$/.test(style('display')) ? parent.block : node,
      paper: hasImage ? null : paint.alpha > 0.5 ? paint.rgb : parent.paper,
    };
  }

  #findCovers(): void {
    const { layout } = this.#document;
    const covers: { rect: Rect; order: number; area: number }[] = [];
    for (let at = 0; at < layout.nodeIndex.length; at++) {
      const node = layout.nodeIndex[at] as number;
      const [, , width = 0, height = 0] = layout.bounds[at] ?? [];
      if (width * height < COVER_AREA_MIN || this.#layoutOf[node] !== at || !this.#isOpaque(node, at)) continue;
      const rect = intersect(this.#rectOf(at), (this.#areas[node] as Area).own);
      const isOverAll = this.#styleOf(at, 'position') === 'fixed' && contains(rect, this.#viewport());
      const area = isOverAll ? 1e18 : width * height;
      covers.push({ rect: isOverAll ? EVERYWHERE : rect, order: layout.paintOrders?.[at] ?? 0, area });
    }
    this.#covers.push(...covers.sort((a, b) => b.area - a.area).slice(0, COVERS_MAX));
  }

  #isOpaque(node: number, at: number): boolean {
    const is = (name: Style, value: string) => this.#styleOf(at, name) === value;
    return (
      this.#colorOf(this.#styleOf(at, 'background-color')).alpha > 0.9 &&
      (this.#areas[node] as Area).opacity > 0.9 &&
      is('visibility', 'visible') &&
      is('background-clip', 'border-box') &&
      (['mask-image', 'filter', 'clip-path', 'transform'] as const).every((name) => is(name, 'none')) &&
      is('mix-blend-mode', 'normal')
    );
  }

  #pieces(drawn: string): Piece[] {
    const { layout, nodes, textBoxes } = this.#document;
    const lines = linesByLayout(textBoxes);
    const values = this.#formValues();
    if (drawn !== '') values.set(this.#largestCanvas(), drawn);
    const pieces: Piece[] = [];
    for (let at = 0; at < layout.nodeIndex.length; at++) {
      const node = layout.nodeIndex[at] as number;
      const isText = (layout.text[at] ?? -1) >= 0;
      const written = isText
        ? this.#string(layout.text[at])
        : this.#layoutOf[node] === at
          ? (values.get(node) ?? '')
          : '';
      const text = this.#isReversed(at) ? [...written].reverse().join('') : written;
      if (text === '' || this.#styleOf(at, 'visibility') !== 'visible') continue;
      const parent = nodes.parentIndex?.[node] ?? -1;
      const isNode = this.#nameOf(node) === '#text';
      const area = this.#areas[isNode ? parent : node] ?? PAGE;
      const rect = intersect(this.#rectOf(at), isText ? area.clip : area.own);
      const [first, last] = lines.get(at) ?? [this.#rectOf(at), this.#rectOf(at)];
      // White space at the end of a line has no box.
      const isSpace = text.trim() === '' && Number.parseFloat(this.#styleOf(at, 'font-size')) >= FONT_PX_MIN;
      const place = (isSpace && pieces.at(-1)?.place) || this.#placeOf(area, at, rect);
      pieces.push({
        text,
        place,
        block: area.block,
        parent: this.#areas[nodes.parentIndex?.[area.block] ?? -1]?.block ?? -1,
        first,
        last,
      });
    }
    return pieces;
  }

  /** Whether the characters of a box are painted from right to left, whatever they are. */
  #isReversed(at: number): boolean {
    return this.#styleOf(at, 'unicode-bidi').includes('override') && this.#styleOf(at, 'direction') === 'rtl';
  }

  /** The values and placeholders of text fields and buttons, by node. */
  #formValues(): Map<number, string> {
    const { nodes } = this.#document;
    const values = new Map<number, string>();
    for (const { index = [], value = [] } of [nodes.inputValue ?? {}, nodes.textValue ?? {}])
      for (const [nth, node] of index.entries()) {
        const attributes = this.#attributesOf(node);
        if (this.#nameOf(node) === 'INPUT' && !WRITTEN_INPUTS.test(attributes.get('type') ?? 'text')) continue;
        values.set(node, this.#string(value[nth]) || (attributes.get('placeholder') ?? ''));
      }
    return values;
  }

  /** The canvas with the largest box; -1: none has one. */
  #largestCanvas(): number {
    const { nodeIndex, bounds } = this.#document.layout;
    const areaOf = (at: number) => (bounds[at]?.[2] ?? 0) * (bounds[at]?.[3] ?? 0);
    const canvases = [...nodeIndex.keys()].filter((at) => this.#nameOf(nodeIndex[at] as number) === 'CANVAS');
    return nodeIndex[canvases.sort((a, b) => areaOf(b) - areaOf(a))[0] ?? -1] ?? -1;
  }

  #attributesOf(node: number): Map<string, string> {
    const all = this.#document.nodes.attributes?.[node] ?? [];
    const attributes = new Map<string, string>();
    for (let at = 0; at + 1 < all.length; at += 2) attributes.set(this.#string(all[at]), this.#string(all[at + 1]));
    return attributes;
  }

  #placeOf(area: Area, at: number, rect: Rect): Place {
    const { contentWidth = 0 } = this.#document;
    const viewport = this.#viewport();
    const page = { left: 0, top: 0, right: Math.max(contentWidth, viewport.right), bottom: PAGE_HEIGHT_MAX };
    const isReached = isSeen(rect) && isSeen(intersect(rect, page));
    if (!isReached || area.opacity < OPACITY_MIN || this.#isBlank(area, at, rect) || this.#isCovered(at, rect))
      return 'unseen';
    return isSeen(intersect(rect, viewport)) ? 'viewport' : 'page';
  }

  /** Whether the text of a box is too small to be seen, transparent, or in the colour of its background. */
  #isBlank({ paper }: Area, at: number, rect: Rect): boolean {
    const node = this.#document.layout.nodeIndex[at] as number;
    if ((this.#document.layout.text[at] ?? -1) < 0 && !FIELDS.has(this.#nameOf(node))) return false;
    if (Number.parseFloat(this.#styleOf(at, 'font-size')) < FONT_PX_MIN) return true;
    const shadow = this.#colorOf(this.#styleOf(at, 'text-shadow'));
    if (shadow.alpha > 0.1 || Number.parseFloat(this.#styleOf(at, '-webkit-text-stroke-width')) > 0) return false;
    if (this.#styleOf(at, 'background-clip') === 'text') return false;
    const ink = this.#colorOf(this.#styleOf(at, '-webkit-text-fill-color'));
    if (ink.alpha < OPACITY_MIN) return true;
    if (paper === null || ink.rgb === null || contrast(ink.rgb, paper) >= CONTRAST_MIN) return false;
    return !this.#hasPaintBehind(node, rect);
  }

  /** Whether an element other than an ancestor of a node paints at the centre of its text: an image, or a background. */
  #hasPaintBehind(node: number, { left, top, right, bottom }: Rect): boolean {
    // A page of thousands of such texts shows none of them.
    if (this.#paintChecks++ >= PAINT_CHECKS_MAX) return false;
    this.#paints ??= this.#findPaints();
    const [x, y] = [(left + right) / 2, (top + bottom) / 2];
    return this.#paints.some(
      ({ node: other, rect }) =>
        rect.left <= x && rect.right >= x && rect.top <= y && rect.bottom >= y && !this.#isIn(node, other),
    );
  }

  /** The largest boxes that paint something other than text. */
  #findPaints(): { node: number; rect: Rect }[] {
    const { layout } = this.#document;
    const areaOf = (at: number) => (layout.bounds[at]?.[2] ?? 0) * (layout.bounds[at]?.[3] ?? 0);
    const paints = [...layout.nodeIndex.keys()].filter((at) => {
      if ((layout.text[at] ?? -1) >= 0) return false;
      return (
        IMAGES.has(this.#nameOf(layout.nodeIndex[at] as number)) ||
        this.#styleOf(at, 'background-image') !== 'none' ||
        this.#colorOf(this.#styleOf(at, 'background-color')).alpha > 0.1
      );
    });
    const largest = paints.sort((a, b) => areaOf(b) - areaOf(a)).slice(0, PAINTS_MAX);
    return largest.map((at) => ({ node: layout.nodeIndex[at] as number, rect: this.#rectOf(at) }));
  }

  /** Whether a node is another one, or in it: nodes are in document order, a parent directly before all that is in it. */
  #isIn(node: number, other: number): boolean {
    this.#lastIn ??= lastNodesIn(this.#document.nodes.parentIndex ?? []);
    return node >= other && node <= (this.#lastIn[other] ?? -1);
  }

  #colorOf(style: string): Color {
    const color = this.#colors.get(style) ?? colorOf(style);
    this.#colors.set(style, color);
    return color;
  }

  #isCovered(at: number, rect: Rect): boolean {
    const order = this.#document.layout.paintOrders?.[at] ?? 0;
    return this.#covers.some((cover) => cover.order > order && contains(cover.rect, rect));
  }

  #viewport(): Rect {
    const { scrollOffsetX = 0, scrollOffsetY = 0, layout } = this.#document;
    // The first box is the document's own: as large as the viewport.
    const [, , width = 0, height = 0] = layout.bounds[0] ?? [];
    return rectOf([scrollOffsetX, scrollOffsetY, width, height]);
  }

  #styleOf(at: number, name: Style): string {
    return this.#string(this.#document.layout.styles[at]?.[this.#styleAt[name]]);
  }

  #rectOf(at: number): Rect {
    return rectOf(this.#document.layout.bounds[at] ?? []);
  }

  #nameOf(node: number): string {
    return this.#string(this.#document.nodes.nodeName?.[node]);
  }

  #string(index: number | undefined): string {
    return this.#strings[index ?? -1] ?? '';
  }
}

/** The last node that is in each node, or itself, by the parents of nodes in document order. Pure. */
function lastNodesIn(parents: readonly number[]): Int32Array {
  const last = Int32Array.from(parents.keys());
  for (let node = parents.length - 1; node > 0; node--) {
    const parent = parents[node] as number;
    if (parent >= 0) last[parent] = Math.max(last[parent] as number, last[node] as number);
  }
  return last;
}

/** Types of inputs that show their value; any unknown type is a text field. */
const WRITTEN_INPUTS = /^(?!password|hidden|checkbox|radio|file|range|color|image)/i;
const FIELDS = new Set(['INPUT', 'TEXTAREA']);
const IMAGES = new Set(['IMG', 'VIDEO', 'CANVAS', 'svg', 'IFRAME', 'OBJECT', 'EMBED', 'PICTURE']);

/** The place of something at `inner` in a frame that is itself at `frame`. */
export const outerPlace = (frame: Place, inner: Place): Place =>
  PLACES[Math.max(PLACES.indexOf(frame), PLACES.indexOf(inner))] as Place;

const joined = (a: string, b: string): string => (a === '' ? b : b === '' ? a : `${a}\n${b}`);

/** The first colour in a style; opaque and unknown if it is in a notation that is not read. */
function colorOf(style: string): Color {
  if (style === '' || style === 'none') return { rgb: null, alpha: 0 };
  const [, numbers = ''] = /rgba?\(([^)]*)\)/.exec(style) ?? [];
  const [red, green, blue, alpha = 1] = (numbers.match(/[\d.]+/g) ?? []).map(Number);
  if (red === undefined || green === undefined || blue === undefined) return { rgb: null, alpha: 1 };
  return { rgb: [red, green, blue], alpha };
}

/** The contrast of two colours (WCAG 2.2, 1 to 21). */
function contrast(a: number[], b: number[]): number {
  const linear = (value: number) => (value <= 10 ? value / 3294 : ((value / 255 + 0.055) / 1.055) ** 2.4);
  const luminance = ([red = 0, green = 0, blue = 0]: number[]) =>
    0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
  const [light = 0, dark = 0] = [luminance(a), luminance(b)].sort((x, y) => y - x);
  return (light + 0.05) / (dark + 0.05);
}

/** The first and the last line of each text by the index of its layout. */
function linesByLayout({ layoutIndex, bounds }: DocumentSnapshot['textBoxes']): Map<number, [Rect, Rect]> {
  const lines = new Map<number, [Rect, Rect]>();
  for (const [nth, at] of layoutIndex.entries()) {
    const rect = rectOf(bounds[nth] ?? []);
    const known = lines.get(at);
    if (known) known[1] = rect;
    else lines.set(at, [rect, rect]);
  }
  return lines;
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

/** What separates two pieces: nothing within a line, even of several blocks; a space where a gap is seen; otherwise a line break. */
function between(a: Piece, b: Piece): string {
  if (a.block === b.block) return '';
  const height = Math.max(1, a.last.bottom - a.last.top);
  const isSameLine = Math.min(a.last.bottom, b.first.bottom) - Math.max(a.last.top, b.first.top) > height / 2;
  const gap = b.first.left - a.last.right;
  if (isSameLine && gap > -2 && gap <= height * 0.6) return gap <= height * 0.1 ? '' : ' ';
  // Single letters in boxes of their own, at the end of a line and at the beginning of the next.
  const isLetters = a.text.length <= 2 && b.text.length <= 2 && a.parent === b.parent;
  return isLetters && b.first.top > a.last.top && b.first.top - a.last.bottom < height ? '' : '\n';
}
