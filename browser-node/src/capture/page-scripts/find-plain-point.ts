/**
 * Runs in the page, in a world of its own: a point in view, in CSS pixels, at which nothing looks clickable and no frame is; null where
 * there is none.
 */
export function findPlainPoint(): { x: number; y: number } | null {
  const CLICKABLE =
    'a, button, input, select, textarea, label, summary, video, audio, iframe, embed, object, [onclick], [role=button], [role=link], [tabindex]';
  const STEPS = 12;
  for (let row = STEPS - 1; row > 0; row--) {
    for (let column = STEPS - 1; column > 0; column--) {
      const [x, y] = [Math.round((innerWidth * column) / STEPS), Math.round((innerHeight * row) / STEPS)];
      const element = Document.prototype.elementFromPoint.call(document, x, y);
      if (!element || Element.prototype.closest.call(element, CLICKABLE)) continue;
      if (getComputedStyle(element).cursor !== 'pointer') return { x, y };
    }
  }
  return null;
}
