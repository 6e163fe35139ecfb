import { composeScript } from './compose-script.ts';
import { domReader } from './dom-reader.ts';

/**
 * Runs in the page, in an isolated world: scrolls what a reader would scroll by a screen, or back to its top: the page, else what lies in the middle of it
 * and scrolls. Returns whether there is a further screen, once the page could draw this one.
 */
export const scrollToScreen = composeScript(
  async function scrollToScreen(
    { isTop }: { isTop: boolean },
    parts: { domReader: typeof domReader },
  ): Promise<boolean> {
    const { get, parentOf } = parts.domReader();
    const size = (element: Element, name: string): number => get(Element, name, element);
    const root: Element = get(Document, 'scrollingElement', document) ?? get(Document, 'documentElement', document);
    let scroller = root;
    if (size(root, 'scrollHeight') <= innerHeight + 1) {
      let at: Element | null = Document.prototype.elementFromPoint.call(document, innerWidth / 2, innerHeight / 2);
      for (let level = 0; at && level < 100; level += 1, at = parentOf(at)) {
        const isLong = size(at, 'scrollHeight') > size(at, 'clientHeight') + 1;
        if (/auto|scroll/.test(getComputedStyle(at).overflowY) && isLong) scroller = at;
      }
    }
    const height = scroller === root ? innerHeight : size(scroller, 'clientHeight');
    const top = isTop ? 0 : size(scroller, 'scrollTop') + height * 0.9;
    const place: ScrollToOptions = { left: size(scroller, 'scrollLeft'), top, behavior: 'instant' };
    Reflect.apply(Element.prototype.scrollTo, scroller, [place]);
    // A busy machine draws late, and only then does a page with no end add to it; a page that is not drawn at all waits for the timer.
    await new Promise((resolve) => {
      requestAnimationFrame(() => requestAnimationFrame(resolve));
      setTimeout(resolve, 1_000);
    });
    return size(scroller, 'scrollTop') + height < size(scroller, 'scrollHeight') - 2;
  },
  { domReader },
);
