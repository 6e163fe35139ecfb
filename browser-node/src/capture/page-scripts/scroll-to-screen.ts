/**
 * Runs in the page, in an isolated world: scrolls what a reader would scroll by a screen, or back to its top: the page, else what lies in the middle of it
 * and scrolls. Returns whether there is a further screen, once the page could draw this one.
 */
export async function scrollToScreen({ isTop }: { isTop: boolean }): Promise<boolean> {
  const root = document.scrollingElement ?? document.documentElement;
  let scroller: Element = root;
  if (root.scrollHeight <= innerHeight + 1) {
    let at: Element | null = document.elementFromPoint(innerWidth / 2, innerHeight / 2);
    for (let level = 0; at && level < 100; level += 1, at = at.parentElement) {
      const scrolls = /auto|scroll/.test(getComputedStyle(at).overflowY) && at.scrollHeight > at.clientHeight + 1;
      if (scrolls) scroller = at;
    }
  }
  const height = scroller === root ? innerHeight : scroller.clientHeight;
  const top = isTop ? 0 : scroller.scrollTop + height * 0.9;
  scroller.scrollTo({ left: scroller.scrollLeft, top, behavior: 'instant' });
  // A busy machine draws late, and only then does a page with no end add to it; a page that is not drawn at all waits for the timer.
  await new Promise((resolve) => {
    requestAnimationFrame(() => requestAnimationFrame(resolve));
    setTimeout(resolve, 1_000);
  });
  return scroller.scrollTop + height < scroller.scrollHeight - 2;
}
