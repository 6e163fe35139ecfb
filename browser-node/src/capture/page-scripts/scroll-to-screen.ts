import { composeScript } from './compose-script.ts';
import { type DomReader, domReader } from './dom-reader.ts';

/**
 * Part of a page script: finds what a reader of the page scrolls, in closed shadow roots if `measureVisuals` has found
 * them in this world.
 */
export function scrollerReader({ get, elementsIn, boxOf }: DomReader) {
  /** Elements that are looked at: what scrolls is seldom deep in a page. */
  const ELEMENTS_MAX = 5_000;
  const INNER_MAX = 3;
  const sizeOf = (element: Element, name: string): number => get(Element, name, element);
  const root: Element | null =
    get(Document, 'scrollingElement', document) ?? get(Document, 'documentElement', document);
  const viewHeightOf = (element: Element): number => (element === root ? innerHeight : sizeOf(element, 'clientHeight'));
  const hiddenHeightOf = (element: Element): number => sizeOf(element, 'scrollHeight') - viewHeightOf(element);
  const isVisible = (element: Element): boolean =>
    Element.prototype.checkVisibility.call(element, { opacityProperty: true, visibilityProperty: true });
  const viewArea = innerWidth * innerHeight;
  const fillsView = (element: Element): boolean => {
    const { left, top, right, bottom } = boxOf(element);
    const [width, height] = [
      Math.min(right, innerWidth) - Math.max(left, 0),
      Math.min(bottom, innerHeight) - Math.max(top, 0),
    ];
    return width > 0 && height > 0 && width * height * 2 >= viewArea && isVisible(element);
  };
  /**
   * The page, or if that is hardly higher than the view, the element with the longest content that scrolls in most of
   * the view; if there is none, one that would, were it not kept from it: a consent wall does that. Null: the document
   * has no element.
   */
  const find = (): Element | null => {
    if (!root || hiddenHeightOf(root) > innerHeight / 2) return root;
    const longest = { scrolls: root, cutsOff: root };
    let left = ELEMENTS_MAX;
    for (const element of elementsIn(document)) {
      left -= 1;
      if (left < 0) break;
      const isLonger = (than: Element) => hiddenHeightOf(element) > Math.max(1, hiddenHeightOf(than));
      if (!(isLonger(longest.scrolls) || isLonger(longest.cutsOff)) || !fillsView(element)) continue;
      const { overflowY } = getComputedStyle(element);
      const kind = /auto|scroll/.test(overflowY) ? 'scrolls' : overflowY === 'hidden' ? 'cutsOff' : null;
      if (kind && isLonger(longest[kind])) longest[kind] = element;
    }
    return longest.scrolls === root ? longest.cutsOff : longest.scrolls;
  };
  /**
   * The first of the other elements that a reader scrolls, wherever they are on the page: at least as large as a
   * quarter of the view, and with more to show than half of their own height.
   */
  const findInner = (main: Element): Element[] => {
    const isLarge = (element: Element) => {
      const { width, height } = boxOf(element);
      return Math.min(width, innerWidth) * Math.min(height, innerHeight) * 4 >= viewArea && isVisible(element);
    };
    const isInner = (element: Element) =>
      element !== main &&
      element !== root &&
      hiddenHeightOf(element) > sizeOf(element, 'clientHeight') / 2 &&
      /auto|scroll/.test(getComputedStyle(element).overflowY) &&
      isLarge(element);
    return [...elementsIn(document).take(ELEMENTS_MAX).filter(isInner).take(INNER_MAX)];
  };
  const scroll = (element: Element, top: number) => {
    const place: ScrollToOptions = { left: sizeOf(element, 'scrollLeft'), top, behavior: 'instant' };
    Reflect.apply(Element.prototype.scrollTo, element, [place]);
  };
  return { root, sizeOf, viewHeightOf, hiddenHeightOf, find, findInner, scroll };
}

const PARTS = { domReader, scrollerReader };

/** Runs in a frame, in an isolated world: whether a reader can scroll what it shows, and its view, in CSS pixels. */
export const readScroller = composeScript(function readScroller(_: null, parts: typeof PARTS) {
  const { hiddenHeightOf, find } = parts.scrollerReader(parts.domReader());
  const scroller = find();
  const view = { x: 0, y: 0, width: innerWidth, height: innerHeight };
  return { scrolls: scroller !== null && hiddenHeightOf(scroller) > 2, view };
}, PARTS);

/**
 * Whether there is a further screen, and whether the page has taken away what an earlier one showed, as a list does
 * that has only the items in view.
 */
export type Screen = { isMore: boolean; isReplaced: boolean };

/**
 * Runs in a frame, in an isolated world: scrolls what a reader would scroll by a screen, or all to its top. What
 * scrolls in the page comes after the page itself. Returns once the frame could draw it.
 */
export const scrollToScreen = composeScript(async function scrollToScreen(
  { isTop }: { isTop: boolean },
  parts: typeof PARTS,
): Promise<Screen> {
  const dom = parts.domReader();
  const { root, sizeOf, viewHeightOf, hiddenHeightOf, find, findInner, scroll } = parts.scrollerReader(dom);
  const main = find();
  if (!root || !main) return { isMore: false, isReplaced: false };
  const hasMore = (element: Element): boolean => sizeOf(element, 'scrollTop') < hiddenHeightOf(element) - 2;
  /**
   * What was scrolled, the last one now; and what each screen showed at some points: an ad that refreshes is at few.
   */
  type Shown = { scrolled: Element[]; screens: Element[][][] };
  const world = globalThis as { [shown: symbol]: Shown | undefined };
  const key = Symbol.for('screens');
  const before = world[key] ?? { scrolled: [], screens: [] };
  const isLeft = (element: Element): boolean => !before.scrolled.includes(element);
  const next = (): Element | undefined =>
    hasMore(main) && isLeft(main) ? main : findInner(main).find((element) => hasMore(element) && isLeft(element));
  const last = before.scrolled.at(-1) ?? main;
  const scroller = hasMore(last) ? last : (next() ?? last);
  const elementsAt = (x: number, y: number, within: Document | ShadowRoot = document): Element[] => {
    const { prototype } = within instanceof ShadowRoot ? ShadowRoot : Document;
    const own = prototype.elementsFromPoint.call(within, x, y).filter((element) => dom.rootOf(element) === within);
    return own.flatMap((element) => {
      const inside = dom.anyShadowRootOf(element);
      return inside ? [element, ...elementsAt(x, y, inside)] : [element];
    });
  };
  const shownIn = (element: Element): Element[][] => {
    const { x, y, width, height } = element === root ? new DOMRect(0, 0, innerWidth, innerHeight) : dom.boxOf(element);
    return [0.2, 0.4, 0.6, 0.8].map((share) => elementsAt(x + width / 2, y + height * share));
  };
  const isGone = (element: Element): boolean => !Reflect.get(Node.prototype, 'isConnected', element);
  if (isTop) for (const element of [root, main, ...before.scrolled]) scroll(element, 0);
  else {
    if (scroller !== main) Element.prototype.scrollIntoView.call(scroller, { block: 'nearest', behavior: 'instant' });
    before.screens.push(shownIn(scroller));
    before.scrolled = [...new Set([...before.scrolled, scroller])];
    scroll(scroller, sizeOf(scroller, 'scrollTop') + viewHeightOf(scroller) * 0.9);
  }
  world[key] = isTop ? undefined : before;
  // A busy machine draws late, and only then does a page with no end add to it; a page that is not drawn at all waits
  // for the timer.
  await new Promise((resolve) => {
    requestAnimationFrame(() => requestAnimationFrame(resolve));
    setTimeout(resolve, 1_000);
  });
  return {
    isMore: hasMore(scroller) || next() !== undefined,
    isReplaced: before.screens.some((points) => points.every((elements) => elements.some(isGone))),
  };
}, PARTS);
