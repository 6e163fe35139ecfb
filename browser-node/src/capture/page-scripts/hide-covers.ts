import { composeScript } from './compose-script.ts';
import { type DomReader, domReader } from './dom-reader.ts';

/** `element`: one of the page. */
type OfElement = { element: Element };
/** What is hidden and shown again together: what lies over one ad, or what covers the page with ads. */
export type Hidden = 'covers' | 'overlays';

/** Part of a page script: hides elements and shows them again; what is hidden is kept in the isolated world. */
function hiding({ get }: DomReader, kind: Hidden) {
  // A symbol: elements of the page shadow names that are not taken.
  const key = Symbol.for(`hidden ${kind}`);
  const world = globalThis as { [hidden: symbol]: { style: CSSStyleDeclaration; was: string }[] | undefined };
  const hidden = world[key] ?? [];
  world[key] = hidden;
  /** Whether it was not hidden before, and is now. */
  const hide = (element: Element): boolean => {
    const owner = [HTMLElement, SVGElement, MathMLElement].find((one) => element instanceof one);
    if (!owner) return false;
    const style: CSSStyleDeclaration = get(owner, 'style', element);
    if (hidden.some((one) => one.style === style)) return false;
    hidden.push({ style, was: style.getPropertyValue('visibility') });
    style.setProperty('visibility', 'hidden', 'important');
    return true;
  };
  const showAll = () => {
    for (const { style, was } of hidden.splice(0)) style.setProperty('visibility', was);
  };
  /** An element with everything that it is in, shadow roots and their hosts included. */
  const around = (element: Element): Node[] => {
    const found: Node[] = [];
    const above = (node: Node): Node | null =>
      get(Node, 'parentNode', node) ?? (node instanceof ShadowRoot ? node.host : null);
    for (let at: Node | null = element; at; at = above(at)) found.push(at);
    return found;
  };
  return { hide, showAll, around };
}

const PARTS = { domReader, hiding };

/**
 * Runs in the page, in an isolated world: hides what lies over an ad at a point of the viewport, at most `most` elements. Returns how many. Each is
 * hidden with all that it is a part of and the ad is not: a consent wall is many elements deep.
 */
export const hideCovers = composeScript(function hideCovers(
  { element: ad, x, y, most }: OfElement & { x: number; y: number; most: number },
  parts: typeof PARTS,
): number {
  const dom = parts.domReader();
  // A slot that refreshed meanwhile shows its next ad in another element: that is no cover.
  if (!dom.get(Node, 'isConnected', ad)) return 0;
  const { hide, around } = parts.hiding(dom, 'covers');
  const own = new Set(around(ad));
  // Of what is in a shadow root, the document has its host only.
  const root = Node.prototype.getRootNode.call(ad);
  const hitAt = () =>
    root instanceof ShadowRoot ? root.elementFromPoint(x, y) : Document.prototype.elementFromPoint.call(document, x, y);
  for (let count = 0; count < most; count += 1) {
    const hit = hitAt();
    if (!hit || own.has(hit) || Node.prototype.contains.call(ad, hit)) return count;
    const whole = around(hit).findLast((at): at is Element => at instanceof Element && !own.has(at)) ?? hit;
    // What is in a hidden element can be visible all the same.
    if (!hide(whole) && !hide(hit)) return count;
  }
  return most;
}, PARTS);

/** Runs in the page, in an isolated world: hides an element. */
export const hideElement = composeScript(function hideElement({ element }: OfElement, parts: typeof PARTS): void {
  parts.hiding(parts.domReader(), 'overlays').hide(element);
}, PARTS);

/** Runs in the page, in an isolated world: shows again what the other scripts hid of a kind. */
export const showHidden = composeScript(function showHidden(kind: Hidden, parts: typeof PARTS): void {
  parts.hiding(parts.domReader(), kind).showAll();
}, PARTS);
