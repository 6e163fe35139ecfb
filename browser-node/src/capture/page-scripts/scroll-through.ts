import { composeScript } from './compose-script.ts';
import { domReader } from './dom-reader.ts';
import { scrollerReader } from './scroll-to-screen.ts';

/**
 * Size of a page in CSS pixels, and device pixels per CSS pixel. `isEmpty`: it has no document element; `isCutOff`: an
 * element scrolls in it, most of whose content is not in view.
 */
export type PageSize = {
  width: number;
  height: number;
  viewportHeight: number;
  ratio: number;
  isEmpty: boolean;
  isCutOff: boolean;
};
type Scrolling = { screens: number; heightMax: number; keepsPlaces: boolean };
const PARTS = { domReader, scrollerReader };

/**
 * Runs in the page, in an isolated world: scrolls down at most `screens` screens, one at a time, so that lazy content is requested, and
 * back up. Scrolling costs a tenth of a capture's CPU time: pages of little more than one screen, pages higher than `heightMax` CSS pixels, and
 * pages without a sign of lazy content, are not scrolled. Such a sign is also what is transparent below the view: many pages show their parts as
 * these come into view; and an element that scrolls in the page, which may be a list that has only the items in view. Parts that the browser draws
 * only in view (CSS Containment, `content-visibility`) are drawn from then on, unless everything is to keep its place: such parts may have another
 * size then.
 */
export const scrollThrough = composeScript(async function scrollThrough(
  { screens, heightMax, keepsPlaces }: Scrolling,
  parts: typeof PARTS,
): Promise<PageSize & { scrolled: boolean }> {
  const WAITING = '[loading=lazy], [data-src], [data-srcset], [data-original], [data-bg], [class*=lazy]';
  /** Elements that are looked at, and the least width and height, in CSS pixels, of what a visitor would see. */
  const [ELEMENTS_MAX, SIDE_MIN] = [3_000, 20];
  const FADE_MS = 1_200;
  const dom = parts.domReader();
  const { root: scrolledRoot, sizeOf, viewHeightOf, hiddenHeightOf, find, scroll } = parts.scrollerReader(dom);
  const scroller = find();
  const isCutOff =
    scroller !== null &&
    scroller !== scrolledRoot &&
    /auto|scroll/.test(getComputedStyle(scroller).overflowY) &&
    hiddenHeightOf(scroller) > viewHeightOf(scroller) / 2;
  const size = (): PageSize => {
    const root = Reflect.get(Document.prototype, 'documentElement', document) as Element | null;
    const scrolled = (name: string): number => (root ? Reflect.get(Element.prototype, name, root) : 0);
    return {
      width: Math.max(scrolled('scrollWidth'), innerWidth),
      height: Math.max(scrolled('scrollHeight'), innerHeight),
      viewportHeight: innerHeight,
      ratio: devicePixelRatio,
      isEmpty: root === null,
      isCutOff,
    };
  };
  const elements = () => dom.elementsIn(document).take(ELEMENTS_MAX);
  const isShown = (element: Element, properties = {}): boolean =>
    Element.prototype.checkVisibility.call(element, properties);
  const hidesBelow = (): boolean => {
    for (const element of elements()) {
      const { top, width, height } = Element.prototype.getBoundingClientRect.call(element);
      const isBelow = top >= innerHeight && width >= SIDE_MIN && height >= SIDE_MIN;
      if (isBelow && !isShown(element, { opacityProperty: true, visibilityProperty: true })) return true;
    }
    return false;
  };
  const parentOf = (element: Element): Element | null => dom.parentOf(element) ?? dom.hostOf(element);
  const isWaiting = (): boolean =>
    Document.prototype.querySelector.call(document, WAITING) !== null ||
    elements().some((element) => Boolean(dom.anyShadowRootOf(element)?.querySelector(WAITING)));
  const drawAll = (): boolean => {
    let isChanged = false;
    for (const element of elements()) {
      if (isShown(element, { contentVisibilityAuto: true }) || !isShown(element)) continue;
      let at = parentOf(element);
      while (at && getComputedStyle(at).contentVisibility !== 'auto') at = parentOf(at);
      if (!(at instanceof HTMLElement)) continue;
      const style: CSSStyleDeclaration = Reflect.get(HTMLElement.prototype, 'style', at);
      style.setProperty('content-visibility', 'visible', 'important');
      isChanged = true;
    }
    return isChanged;
  };
  const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
  // The page learns what is in view one frame after that was drawn, which a busy machine does late; pages that wait
  // until scrolling pauses need some more time.
  const painted = () => Promise.all([pause(60), Promise.race([frame().then(frame), pause(1_000)])]);
  /** What came into view fades in, some of it by a script. */
  const faded = () => {
    const running = Document.prototype.getAnimations.call(document).filter(({ effect }) => {
      return Number.isFinite(effect?.getComputedTiming().endTime);
    });
    const over = Promise.allSettled(running.map(({ finished }) => finished));
    return Promise.race([Promise.all([over, pause(FADE_MS / 2)]), pause(FADE_MS)]);
  };
  const { viewportHeight, height } = size();
  const isHigh = isCutOff || (height >= viewportHeight * 1.5 && height <= heightMax);
  if (screens === 0 || !scroller || !isHigh) return { ...size(), scrolled: false };
  const isChanged = !keepsPlaces && drawAll();
  const hidesParts = hidesBelow();
  if (!hidesParts && !isCutOff && !isWaiting()) return { ...size(), scrolled: isChanged };
  const top = sizeOf(scroller, 'scrollTop');
  const viewHeight = viewHeightOf(scroller);
  for (let screen = 1; screen <= screens && screen * viewHeight < sizeOf(scroller, 'scrollHeight'); screen++) {
    scroll(scroller, screen * viewHeight);
    await painted();
  }
  scroll(scroller, top);
  if (hidesParts) await faded();
  return { ...size(), scrolled: true };
}, PARTS);
