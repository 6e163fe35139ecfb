import type { Style } from '../devtools/dom-snapshot.ts';
import { type Color, contrast, parseColor } from './css-color.ts';
import { clipOf, contains, EVERYWHERE, intersect, isCutAway, isSeen, NOWHERE, type Rect } from './page-rect.ts';
import type { SnapshotDocument } from './snapshot-document.ts';

/** Where something can be seen: in the viewport, elsewhere on the page, or nowhere. */
export type Visibility = 'viewport' | 'page' | 'unseen';
/** The most visible first. */
export const VISIBILITIES: readonly Visibility[] = ['viewport', 'page', 'unseen'];

/** The visibility of something that has `inner` in the document of a frame which itself has `frame`. */
export const visibilityInFrame = (frame: Visibility, inner: Visibility): Visibility =>
  VISIBILITIES[Math.max(VISIBILITIES.indexOf(frame), VISIBILITIES.indexOf(inner))] as Visibility;

/** A page is seen this far down, in pixels: as far as its screenshot. */
const PAGE_HEIGHT_MAX = 16_383;
const OPACITY_MIN = 0.1;
export const FONT_PX_MIN = 2;
/** Less contrast than this is no contrast. */
const CONTRAST_MIN = 1.1;
/** Minimum area in square pixels of an opaque box that may cover text. */
const COVER_AREA_MIN = 10_000;
/** The largest such boxes are considered. */
const COVERS_MAX = 50;
/** Boxes that are considered behind texts in the color of their background. */
const PAINTED_MAX = 300;
/** Texts in the color of their background that are looked at. */
const PAINTED_CHECKS_MAX = 1_000;

/**
 * What an element passes on to what is in it. `own`: the part of the page in which its box can be seen; `clip`,
 * `absoluteClip`: that of its content, and of its content with an absolute position. `block`: the node that begins its
 * lines. `background`: red, green and blue, null: an image.
 */
type Inherited = {
  opacity: number;
  own: Rect;
  clip: Rect;
  absoluteClip: Rect;
  block: number;
  background: number[] | null;
};
const OF_PAGE: Inherited = {
  opacity: 1,
  own: EVERYWHERE,
  clip: EVERYWHERE,
  absoluteClip: EVERYWHERE,
  block: -1,
  background: [255, 255, 255],
};

/** Where the boxes of a document can be seen. Pure; takes linear time in the number of boxes. */
export class BoxVisibility {
  readonly #document: SnapshotDocument;
  /** By node. */
  readonly #inherited: Inherited[] = [];
  /** The largest opaque boxes. */
  readonly #covers: { rect: Rect; paintOrder: number }[];
  readonly #colors = new Map<string, Color>();
  #painted: { node: number; rect: Rect }[] | null = null;
  #paintedChecks = 0;

  constructor(document: SnapshotDocument) {
    this.#document = document;
    for (let node = 0; node < document.nodeCount; node++) this.#inherited.push(this.#inheritedOf(node));
    this.#covers = this.#findCovers();
  }

  /** The visibility of an element; null: it has no box. */
  ofNode(node: number): Visibility | null {
    const box = this.#document.firstBoxOf(node);
    return box < 0 ? null : this.of(box);
  }

  /** The visibility of a box, and of the text in it. */
  of(box: number): Visibility {
    const page = this.#document;
    const inherited = this.#around(box);
    const rect = intersect(page.rectOf(box), page.isText(box) ? inherited.clip : inherited.own);
    const whole = {
      left: 0,
      top: 0,
      right: Math.max(page.contentWidth, page.viewport.right),
      bottom: PAGE_HEIGHT_MAX,
    };
    const isOnPage = isSeen(rect) && isSeen(intersect(rect, whole));
    if (!isOnPage || inherited.opacity < OPACITY_MIN) return 'unseen';
    if (this.#isBlank(inherited, box, rect) || this.#isCovered(box, rect)) return 'unseen';
    return isSeen(intersect(rect, page.viewport)) ? 'viewport' : 'page';
  }

  /** The block whose lines a box is in, and the block around that; -1: none. */
  blocksOf(box: number): { block: number; outer: number } {
    const { block } = this.#around(box);
    return { block, outer: this.#inherited[this.#document.parentOf(block)]?.block ?? -1 };
  }

  /**
   * What applies to a box: for a text what its element passes on, otherwise what was computed for the element itself.
   */
  #around(box: number): Inherited {
    const node = this.#document.nodeOf(box);
    const isText = this.#document.nameOf(node) === '#text';
    return this.#inherited[isText ? this.#document.parentOf(node) : node] ?? OF_PAGE;
  }

  #inheritedOf(node: number): Inherited {
    const page = this.#document;
    const parent = this.#inherited[page.parentOf(node)] ?? OF_PAGE;
    const box = page.firstBoxOf(node);
    if (box < 0 || !page.hasStyles(box)) return parent;
    const style = (name: Style) => page.styleOf(box, name);
    const position = style('position');
    const outer = position === 'fixed' ? EVERYWHERE : position === 'absolute' ? parent.absoluteClip : parent.clip;
    const own = isCutAway(style('clip-path'), style('clip')) ? NOWHERE : outer;
    const isRoot = ['html', 'body'].includes(page.nameOf(node));
    const clip = isRoot ? own : clipOf(own, page.rectOf(box), style('overflow-x'), style('overflow-y'));
    const isPositioned = position !== 'static' || style('transform') !== 'none';
    const color = this.#colorOf(style('background-color'));
    const hasImage = style('background-image') !== 'none' && style('background-clip') !== 'text';
    return {
      opacity: parent.opacity * Number(style('opacity')),
      own,
      clip,
      absoluteClip: isPositioned ? clip : own === NOWHERE ? NOWHERE : parent.absoluteClip,
      block: /^(inline|contents)$/.test(style('display')) ? parent.block : node,
      background: hasImage ? null : color.alpha > 0.5 ? color.rgb : parent.background,
    };
  }

  #findCovers(): { rect: Rect; paintOrder: number }[] {
    const page = this.#document;
    const covers: { rect: Rect; paintOrder: number; area: number }[] = [];
    for (let box = 0; box < page.boxCount; box++) {
      const node = page.nodeOf(box);
      const area = page.areaOf(box);
      if (area < COVER_AREA_MIN || page.firstBoxOf(node) !== box || !this.#isOpaque(node, box)) continue;
      const rect = intersect(page.rectOf(box), (this.#inherited[node] as Inherited).own);
      const coversAll = page.styleOf(box, 'position') === 'fixed' && contains(rect, page.viewport);
      const paintOrder = page.paintOrderOf(box);
      covers.push(coversAll ? { rect: EVERYWHERE, paintOrder, area: 1e18 } : { rect, paintOrder, area });
    }
    return covers.sort((a, b) => b.area - a.area).slice(0, COVERS_MAX);
  }

  #isOpaque(node: number, box: number): boolean {
    const is = (name: Style, value: string) => this.#document.styleOf(box, name) === value;
    return (
      this.#colorOf(this.#document.styleOf(box, 'background-color')).alpha > 0.9 &&
      (this.#inherited[node] as Inherited).opacity > 0.9 &&
      is('visibility', 'visible') &&
      is('background-clip', 'border-box') &&
      (['mask-image', 'filter', 'clip-path', 'transform'] as const).every((name) => is(name, 'none')) &&
      is('mix-blend-mode', 'normal')
    );
  }

  #isCovered(box: number, rect: Rect): boolean {
    const paintOrder = this.#document.paintOrderOf(box);
    return this.#covers.some((cover) => cover.paintOrder > paintOrder && contains(cover.rect, rect));
  }

  /** Whether the text of a box is too small to be seen, transparent, or in the color of its background. */
  #isBlank({ background }: Inherited, box: number, rect: Rect): boolean {
    const page = this.#document;
    const node = page.nodeOf(box);
    if (!page.isText(box) && !FIELDS.has(page.nameOf(node))) return false;
    if (Number.parseFloat(page.styleOf(box, 'font-size')) < FONT_PX_MIN) return true;
    const shadow = this.#colorOf(page.styleOf(box, 'text-shadow'));
    if (shadow.alpha > 0.1 || Number.parseFloat(page.styleOf(box, '-webkit-text-stroke-width')) > 0) return false;
    if (page.styleOf(box, 'background-clip') === 'text') return false;
    const color = this.#colorOf(page.styleOf(box, '-webkit-text-fill-color'));
    if (color.alpha < OPACITY_MIN) return true;
    if (background === null || color.rgb === null || contrast(color.rgb, background) >= CONTRAST_MIN) return false;
    return !this.#isPaintedBehind(node, rect);
  }

  /** Whether an element other than an ancestor of a node paints an image or a background at the center of its text. */
  #isPaintedBehind(node: number, { left, top, right, bottom }: Rect): boolean {
    // A page of thousands of such texts shows none of them.
    if (this.#paintedChecks++ >= PAINTED_CHECKS_MAX) return false;
    this.#painted ??= this.#findPainted();
    const [x, y] = [(left + right) / 2, (top + bottom) / 2];
    return this.#painted.some(
      ({ node: other, rect }) =>
        rect.left <= x && rect.right >= x && rect.top <= y && rect.bottom >= y && !this.#document.isIn(node, other),
    );
  }

  /** The largest boxes that paint something other than text. */
  #findPainted(): { node: number; rect: Rect }[] {
    const page = this.#document;
    const painted = Array.from({ length: page.boxCount }, (_, box) => box).filter(
      (box) =>
        !page.isText(box) &&
        (IMAGES.has(page.nameOf(page.nodeOf(box))) ||
          page.styleOf(box, 'background-image') !== 'none' ||
          this.#colorOf(page.styleOf(box, 'background-color')).alpha > 0.1),
    );
    const largest = painted.sort((a, b) => page.areaOf(b) - page.areaOf(a)).slice(0, PAINTED_MAX);
    return largest.map((box) => ({ node: page.nodeOf(box), rect: page.rectOf(box) }));
  }

  #colorOf(style: string): Color {
    const color = this.#colors.get(style) ?? parseColor(style);
    this.#colors.set(style, color);
    return color;
  }
}

const FIELDS = new Set(['input', 'textarea']);
const IMAGES = new Set(['img', 'video', 'canvas', 'svg', 'iframe', 'object', 'embed', 'picture']);
