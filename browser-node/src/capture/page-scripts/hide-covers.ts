import type { Box } from '../box.ts';
import { composeScript } from './compose-script.ts';
import { type DomReader, domReader } from './dom-reader.ts';

/** `element`: one of the page. */
type OfElement = { element: Element };
/** What is hidden and shown again together: what lies over one ad, or what covers the page with ads. */
export type Hidden = 'covers' | 'overlays';

/** Part of a page script: hides elements and shows them again; what is hidden is kept in the isolated world. */
function hiding({ get, elementsIn }: DomReader, kind: Hidden) {
  const EVENTS_MS = 100;
  // A symbol: elements of the page shadow names that are not taken.
  const key = Symbol.for(`hidden ${kind}`);
  const world = globalThis as { [hidden: symbol]: { element: Element; showAgain: () => void }[] | undefined };
  const hidden = world[key] ?? [];
  world[key] = hidden;
  /** Whether it was not changed before, and is now; `change` returns what undoes it. */
  const once = (element: Element, change: () => () => void): boolean => {
    if (hidden.some((one) => one.element === element)) return false;
    hidden.push({ element, showAgain: change() });
    return true;
  };
  /** Whether it was not hidden before, and is now. */
  const hide = (element: Element): boolean => {
    const owner = [HTMLElement, SVGElement, MathMLElement].find((one) => element instanceof one);
    if (!owner) return false;
    const style: CSSStyleDeclaration = get(owner, 'style', element);
    return once(element, () => {
      const was = style.getPropertyValue('visibility');
      style.setProperty('visibility', 'hidden', 'important');
      return () => style.setProperty('visibility', was);
    });
  };
  /** Keeps the events of a dialog from its page while we close it or show it again. They do not leave a shadow root that the dialog is in. */
  const silently = (dialog: HTMLDialogElement, change: () => void) => {
    const stop = (event: Event) => {
      if (event.target === dialog) event.stopImmediatePropagation();
    };
    const root = Node.prototype.getRootNode.call(dialog);
    const listening = root instanceof ShadowRoot ? root : window;
    const [types, target] = [['beforetoggle', 'toggle', 'close'], EventTarget.prototype];
    for (const type of types) target.addEventListener.call(listening, type, stop, true);
    change();
    // The last of the events come in tasks of their own.
    setTimeout(() => {
      for (const type of types) target.removeEventListener.call(listening, type, stop, true);
    }, EVENTS_MS);
  };
  /**
   * Lets what is `around` an ad be clicked, itself included, which inert elements and all outside of a modal dialog
   * cannot be, hidden or not (HTML standard, 6.3). Returns how many elements and dialogs kept it from that.
   */
  const enable = (around: readonly Node[]): number => {
    const { hasAttribute, setAttribute, removeAttribute } = Element.prototype;
    const { close, showModal } = HTMLDialogElement.prototype;
    const start = (element: Element) => {
      removeAttribute.call(element, 'inert');
      return () => setAttribute.call(element, 'inert', '');
    };
    const shut = (dialog: HTMLDialogElement) => {
      silently(dialog, () => close.call(dialog));
      const isShut = () => get(Node, 'isConnected', dialog) && !hasAttribute.call(dialog, 'open');
      return () => {
        if (isShut()) silently(dialog, () => showModal.call(dialog));
      };
    };
    const inert = around.filter((at): at is Element => at instanceof Element && hasAttribute.call(at, 'inert'));
    const isModal = (one: Element): one is HTMLDialogElement =>
      one instanceof HTMLDialogElement && Element.prototype.matches.call(one, ':modal');
    const dialogs = elementsIn(document)
      .filter(isModal)
      .filter((one) => !around.includes(one));
    return [
      ...inert.map((one) => once(one, () => start(one))),
      ...[...dialogs].map((one) => once(one, () => shut(one))),
    ].filter(Boolean).length;
  };
  const showAll = () => {
    for (const { showAgain } of hidden.splice(0)) showAgain();
  };
  /** An element with everything that it is in, shadow roots and their hosts included. */
  const around = (element: Element): Node[] => {
    const found: Node[] = [];
    const above = (node: Node): Node | null =>
      get(Node, 'parentNode', node) ?? (node instanceof ShadowRoot ? node.host : null);
    for (let at: Node | null = element; at; at = above(at)) found.push(at);
    return found;
  };
  return { hide, enable, showAll, around };
}

const PARTS = { domReader, hiding };

/** A point of the viewport, and where an ad is in it, in CSS pixels. At most `most` elements are hidden. */
type Covered = { x: number; y: number; box: Box; most: number };

/**
 * Runs in the page, in an isolated world: hides what lies over an ad at a point of the viewport, or keeps it from being
 * clicked. Returns how many elements. Each is hidden with all that it is a part of and the ad is not: a consent wall is
 * many elements deep. In place of an ad whose element is gone, since its slot refreshed meanwhile, it takes the one
 * that has its place now.
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
  const { hide, enable, around } = parts.hiding(dom, 'covers');
  const whole = around(ad);
  const own = new Set(whole);
  const enabled = enable(whole);
  // Of what is in a shadow root, the document has its host only.
  const root = Node.prototype.getRootNode.call(ad);
  const hitAt = () =>
    root instanceof ShadowRoot ? root.elementFromPoint(x, y) : Document.prototype.elementFromPoint.call(document, x, y);
  for (let count = 0; count < most; count += 1) {
    const hit = hitAt();
    if (!hit || own.has(hit) || Node.prototype.contains.call(ad, hit)) return enabled + count;
    const cover = around(hit).findLast((at): at is Element => at instanceof Element && !own.has(at)) ?? hit;
    // What is in a hidden element can be visible all the same.
    if (!hide(cover) && !hide(hit)) return enabled + count;
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
