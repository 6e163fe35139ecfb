import { composeScript } from './compose-script.ts';
import { type DomReader, domReader } from './dom-reader.ts';

/** Part of a page script: finds what a reader of the page scrolls, in closed shadow roots if `measureVisuals` has found them in this world. */
export function scrollerReader({ get, elementsIn, boxOf }: DomReader) {
  /** Elements that are looked at: what scrolls is seldom deep in a page. */
  const ELEMENTS_MAX = 5_000;
  const sizeOf = (element: Element, name: string): number => get(Element, name, element);
  const root: Element | null =
    get(Document, 'scrollingElement', document) ?? get(Document, 'documentElement', document);
  const viewHeightOf = (element: Element): number => (element === root ? innerHeight : sizeOf(element, 'clientHeight'));
  const hiddenHeightOf = (element: Element): number => sizeOf(element, 'scrollHeight') - viewHeightOf(element);
  const fillsView = (element: Element): boolean => {
    const { left, top, right, bottom } = boxOf(element);
    const [width, height] = [
      Math.min(right, innerWidth) - Math.max(left, 0),
      Math.min(bottom, innerHeight) - Math.max(top, 0),
    ];
    const isShown = () =>
      Element.prototype.checkVisibility.call(element, { opacityProperty: true, visibilityProperty: true });
    return width > 0 && height > 0 && width * height * 2 >= innerWidth * innerHeight && isShown();
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
  const scroll = (element: Element, top: number) => {
    const place: ScrollToOptions = { left: sizeOf(element, 'scrollLeft'), top, behavior: 'instant' };
    Reflect.apply(Element.prototype.scrollTo, element, [place]);
  };
  return { root, sizeOf, viewHeightOf, hiddenHeightOf, find, scroll };
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
 * Runs in a frame, in an isolated world: scrolls what a reader would scroll by a screen, or all to its top. Returns
 * once the frame could draw it.
 */
export const scrollToScreen = composeScript(async function scrollToScreen(
  { isTop }: { isTop: boolean },
  parts: typeof PARTS,
): Promise<Screen> {
  const { root, sizeOf, viewHeightOf, hiddenHeightOf, find, scroll } = parts.scrollerReader(parts.domReader());
  const scroller = find();
  if (!root || !scroller) return { isMore: false, isReplaced: false };
  // What each screen showed at some points; an ad that refreshes is at few of them.
  const world = globalThis as { [screens: symbol]: Element[][][] | undefined };
  const key = Symbol.for('screens');
  const shownAt = (height: number): Element[] =>
    Document.prototype.elementsFromPoint.call(document, innerWidth / 2, innerHeight * height);
  const screens = isTop ? [] : [...(world[key] ?? []), [0.2, 0.4, 0.6, 0.8].map(shownAt)];
  world[key] = screens;
  const isGone = (element: Element): boolean => !Reflect.get(Node.prototype, 'isConnected', element);
  if (isTop) scroll(root, 0);
  scroll(scroller, isTop ? 0 : sizeOf(scroller, 'scrollTop') + viewHeightOf(scroller) * 0.9);
  // A busy machine draws late, and only then does a page with no end add to it; a page that is not drawn at all waits
  // for the timer.
  await new Promise((resolve) => {
    requestAnimationFrame(() => requestAnimationFrame(resolve));
    setTimeout(resolve, 1_000);
  });
  return {
    isMore: sizeOf(scroller, 'scrollTop') < hiddenHeightOf(scroller) - 2,
    isReplaced: screens.some((points) => points.every((elements) => elements.some(isGone))),
  };
}, PARTS);
