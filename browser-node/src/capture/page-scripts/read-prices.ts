import type { DomReader } from './dom-reader.ts';

/** A price as it is shown; the fields are those of its observation. */
export type Price = { text: string; font_px: number; contrast: number; in_page: boolean };

/**
 * Part of a page script: collects the blocks of text that contain prices, at most `most`, except those that the page
 * will show later: how legible they are is not known. `money`: the source of `MONEY`.
 */
export function priceReader(
  { parentOf, boxOf, textOf, isVisible }: DomReader,
  contrastOf: (element: Element) => number,
  { most, money }: { most: number; money: string },
) {
  const amount = new RegExp(money);
  const [WORDS_MAX, ANCESTORS_MAX] = [300, 6];
  /**
   * A text of fewer characters is a part of a price whose parts are boxes of their own: the sign, the number, the
   * period.
   */
  const [PART_MAX, BOXES_MAX] = [16, 2];
  /** Texts of boxes around a part that are read: each may be that of the whole page. */
  let unread = 20;
  /** Menus and slides wait so close to the page, in CSS pixels. */
  const BESIDE_MAX = 500;
  const TRANSPARENT = 0.1;
  const opacityOf = (element: Element): number => {
    let opacity = 1;
    for (let at: Element | null = element; at; at = parentOf(at)) opacity *= Number(getComputedStyle(at).opacity);
    return opacity;
  };
  /**
   * Whether it waits for its visitor to scroll, transparent below the viewport, or to open a menu or slide beside the
   * page.
   */
  const isShownLater = (element: Element, { top, right }: DOMRect): boolean =>
    (right + scrollX <= 0 && right + scrollX > -BESIDE_MAX) || (top >= innerHeight && opacityOf(element) < TRANSPARENT);
  /** The text of a block, with that of the boxes around it if it is a part of a price. */
  const wordsOf = (block: Element): string => {
    let words = textOf(block, WORDS_MAX);
    let at = block;
    for (let step = 0; step < BOXES_MAX && words.length < PART_MAX && unread > 0; step++, unread--) {
      at = parentOf(at) ?? at;
      const wider = textOf(at, WORDS_MAX + 1);
      if (wider.length > WORDS_MAX) break;
      words = wider;
    }
    return words;
  };
  const prices: Price[] = [];
  const known = new Set<Element>();
  const add = (node: Node) => {
    if (!amount.test((node.nodeValue ?? '').slice(0, 2_000))) return;
    const own = parentOf(node);
    if (!own || prices.length >= most) return;
    let block = own;
    for (let step = 0; step < ANCESTORS_MAX && getComputedStyle(block).display.startsWith('inline'); step++)
      block = parentOf(block) ?? block;
    if (known.has(block) || !isVisible(own)) return;
    known.add(block);
    const text = wordsOf(block);
    if (!/\d/.test(text)) return;
    const box = boxOf(own);
    if (isShownLater(own, box)) return;
    const { right, bottom, width, height } = box;
    const in_page = right + scrollX > 0 && bottom + scrollY > 0 && width > 2 && height > 2;
    const font_px = Math.min(10_000, Number.parseFloat(getComputedStyle(own).fontSize) || 0);
    prices.push({ text, font_px, contrast: contrastOf(own), in_page });
  };
  return { add, prices };
}

/** Part of a page script: measures the contrast of an element's text, 1 to 21; 21 if its background is not known. */
export function contrastReader({ get, parentOf, nameOf, boxOf }: DomReader) {
  const [ANCESTORS_MAX, SIBLINGS_MAX, WITHIN_MAX, LOW_CONTRAST] = [12, 20, 20, 2];
  const IMAGES = new Set(['img', 'picture', 'video', 'canvas', 'svg']);
  const rgb = (color: string): number[] => (color.startsWith('rgb') ? (color.match(/[\d.]+/g) ?? []).map(Number) : []);
  const luminance = ([r = 0, g = 0, b = 0]: number[]): number => {
    const linear = (value: number) => (value <= 10 ? value / 3294 : ((value / 255 + 0.055) / 1.055) ** 2.4);
    return 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
  };
  const paints = ({ backgroundImage, backgroundColor }: CSSStyleDeclaration): boolean =>
    backgroundImage !== 'none' || (rgb(backgroundColor)[3] ?? 1) > 0.5;
  /**
   * Whether generated content of an element, whose place is not known, is laid under what it contains: it is at least
   * as large as `rect`.
   */
  const hasLayer = (element: Element, rect: DOMRect): boolean =>
    ['::before', '::after'].some((pseudo) => {
      const style = getComputedStyle(element, pseudo);
      const [width = 0, height = 0] = [style.width, style.height].map(Number.parseFloat);
      const isLayer = style.content !== 'none' && ['absolute', 'fixed'].includes(style.position);
      return isLayer && width >= rect.width && height >= rect.height && paints(style);
    });
  const covers = (element: Element, { left, top, right, bottom }: DOMRect): boolean => {
    const box = boxOf(element);
    return box.left <= left + 1 && box.top <= top + 1 && box.right >= right - 1 && box.bottom >= bottom - 1;
  };
  const isPaint = (element: Element): boolean => IMAGES.has(nameOf(element)) || paints(getComputedStyle(element));
  /**
   * Whether an element other than an ancestor paints behind `rect`: an image, a box with a colour, or generated
   * content.
   */
  const hasPaintBehind = (element: Element, rect: DOMRect): boolean => {
    let branch = element;
    for (let at = parentOf(element), step = 0; at && step < ANCESTORS_MAX; at = parentOf(at), step++) {
      if (hasLayer(at, rect)) return true;
      for (const child of [...(get(Element, 'children', at) as HTMLCollection)].slice(0, SIBLINGS_MAX)) {
        if (child === branch || !covers(child, rect)) continue;
        const within = [...Element.prototype.querySelectorAll.call(child, '*')].slice(0, WITHIN_MAX);
        if (isPaint(child) || within.some((one) => covers(one, rect) && isPaint(one))) return true;
      }
      branch = at;
    }
    return false;
  };
  return (element: Element): number => {
    const own = getComputedStyle(element);
    const color = rgb(own.color);
    if (color.length < 3 || own.backgroundClip.includes('text')) return 21;
    let opacity = color[3] ?? 1;
    let behind: number[] | null = null;
    for (let at: Element | null = element; at; at = parentOf(at)) {
      const style = getComputedStyle(at);
      opacity *= Number(style.opacity);
      if (behind) continue;
      if (style.backgroundImage !== 'none') return opacity < 0.1 ? 1 : 21;
      const background = rgb(style.backgroundColor);
      if (background.length >= 3 && (background[3] ?? 1) > 0.5) behind = background;
    }
    const paper = behind ?? [255, 255, 255];
    // Transparent text has less contrast.
    const mixed = paper.map((value, index) => value + ((color[index] ?? 0) - value) * opacity);
    const [a, b] = [luminance(mixed), luminance(paper)].sort((x, y) => y - x) as [number, number];
    const contrast = Math.min(21, Math.max(1, (a + 0.05) / (b + 0.05)));
    return contrast < LOW_CONTRAST && opacity >= 0.1 && hasPaintBehind(element, boxOf(element)) ? 21 : contrast;
  };
}
