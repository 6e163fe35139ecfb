/** Size of a page in CSS pixels, and device pixels per CSS pixel. `isEmpty`: it has no document element. */
export type PageSize = { width: number; height: number; viewportHeight: number; ratio: number; isEmpty: boolean };

/**
 * Runs in the page, in an isolated world: scrolls down at most `screens` screens, one at a time, so that lazy content is requested, and
 * back up. Scrolling costs a tenth of a capture's CPU time: pages of little more than one screen, and pages without a sign of lazy
 * content, are not scrolled.
 */
export async function scrollThrough({ screens }: { screens: number }): Promise<PageSize & { scrolled: boolean }> {
  const WAITING = '[loading=lazy], [data-src], [data-srcset], [data-original], [data-bg], [class*=lazy]';
  const size = (): PageSize => {
    const root = Reflect.get(Document.prototype, 'documentElement', document) as Element | null;
    const scrolled = (name: string): number => (root ? Reflect.get(Element.prototype, name, root) : 0);
    return {
      width: Math.max(scrolled('scrollWidth'), innerWidth),
      height: Math.max(scrolled('scrollHeight'), innerHeight),
      viewportHeight: innerHeight,
      ratio: devicePixelRatio,
      isEmpty: root === null,
    };
  };
  const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
  // The page learns what is in view one frame after that was drawn; pages that wait until scrolling pauses need some more time.
  const painted = () => Promise.all([pause(60), Promise.race([frame().then(frame), pause(500)])]);
  const { viewportHeight, height } = size();
  const waits = Document.prototype.querySelector.call(document, WAITING) !== null;
  if (screens === 0 || height < viewportHeight * 1.5 || !waits) return { ...size(), scrolled: false };
  const [left, top] = [scrollX, scrollY];
  for (let screen = 1; screen <= screens && screen * viewportHeight < size().height; screen++) {
    scrollTo({ left, top: screen * viewportHeight, behavior: 'instant' });
    await painted();
  }
  scrollTo({ left, top, behavior: 'instant' });
  return { ...size(), scrolled: true };
}
