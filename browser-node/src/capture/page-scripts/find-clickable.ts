import { composeScript } from './compose-script.ts';
import { domReader } from './dom-reader.ts';

/**
 * The element at a point, null: nothing there looks clickable. `element`: the elements of a document are numbered in
 * the order in which they were first hit.
 */
export type Hit = { element: number; label: string } | null;

/**
 * Runs in the page, in an isolated world: for each point, the element that a visitor would take for a button or link:
 * `a`, `button`, `input`, `[onclick]`, `role=button`, `role=link`, or one with the cursor `pointer`. Shadow roots are
 * entered; closed ones if `measureVisuals` has left them in this world. The numbers of elements are kept in the world
 * for the next call.
 */
export const findClickable = composeScript(
  function findClickable(
    { points }: { points: { x: number; y: number }[] },
    parts: { domReader: typeof domReader },
  ): Hit[] {
    const BUTTONS = 'a, button, input, select, summary, area, [onclick], [role=button], [role=link]';
    const { anyShadowRootOf, hostOf, nameOf } = parts.domReader();
    // A symbol: elements of the page shadow names that are not taken.
    const world = globalThis as { [numbered: symbol]: Map<Element, number> | undefined };
    const numbered = Symbol.for('clickable numbers');
    const numbers = world[numbered] ?? new Map<Element, number>();
    world[numbered] = numbers;
    const rootOf = (element: Element | null) => element && anyShadowRootOf(element);
    const deepest = (x: number, y: number): Element | null => {
      let element = Document.prototype.elementFromPoint.call(document, x, y);
      for (let root = rootOf(element); root; root = rootOf(element)) {
        const inner: Element | null = root.elementFromPoint(x, y);
        if (!inner || inner === element) break;
        element = inner;
      }
      return element;
    };
    const looksClickable = (element: Element): boolean => {
      if (getComputedStyle(element).cursor === 'pointer') return true;
      for (let at: Element | null = element; at; at = hostOf(at))
        if (Element.prototype.closest.call(at, BUTTONS)) return true;
      return false;
    };
    return points.map(({ x, y }) => {
      const element = deepest(x, y);
      if (!element || !looksClickable(element)) return null;
      if (!numbers.has(element)) numbers.set(element, numbers.size);
      const id = Element.prototype.getAttribute.call(element, 'id');
      const label = nameOf(element) + (id ? `#${id}` : '');
      return { element: numbers.get(element) as number, label: label.slice(0, 100) };
    });
  },
  { domReader },
);

/**
 * Runs in the page, in an isolated world: a point in the viewport, in CSS pixels, at which there is no frame and
 * nothing that looks clickable; null: there is none.
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
