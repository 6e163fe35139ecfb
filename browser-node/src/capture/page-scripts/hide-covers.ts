import { composeScript } from './compose-script.ts';
import { type DomReader, domReader } from './dom-reader.ts';
import type { Box } from './measure-visuals.ts';

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

/** A point of the viewport, and where an ad is in it, in CSS pixels. At most `most` elements are hidden. */
type Covered = { x: number; y: number; box: Box; most: number };

/**
 * Runs in the page, in an isolated world: hides what lies over an ad at a point of the viewport. Returns how many elements. Each is hidden with all
 * that it is a part of and the ad is not: a consent wall is many elements deep. In place of an ad whose element is gone, since its slot refreshed
 * meanwhile, it takes the one that has its place now.
 */
export const hideCovers = composeScript(function hideCovers(
  { element, x, y, box, most }: OfElement & Covered,
  parts: typeof PARTS,
): number {
  const OFF_MAX = 2;
  const dom = parts.domReader();
  const hasItsPlace = (other: Element): boolean => {
    const place = dom.boxOf(other);
    return (['x', 'y', 'width', 'height'] as const).every((side) => Math.abs(place[side] - box[side]) <= OFF_MAX);
  };
  const isThere: boolean = dom.get(Node, 'isConnected', element);
  const ad = isThere ? element : Document.prototype.elementsFromPoint.call(document, x, y).findLast(hasItsPlace);
  if (!ad) return 0;
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
