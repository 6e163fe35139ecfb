/** A box in CSS pixels, relative to the top left corner of its document's viewport. */
export type Box = { x: number; y: number; width: number; height: number };
/** `picture`: an image, video or canvas; `paint`: a background or border. */
export type Visual = Box & { kind: 'picture' | 'text' | 'paint' };
/** `width`: of the viewport, in the document's own CSS pixels. `emptyHosts`: the number of elements that seem empty and may have a closed shadow root. */
export type Measured = { visuals: Visual[]; emptyHosts: number; width: number; scrollX: number; scrollY: number };

/**
 * Runs in the page, in an isolated world: what `root` shows without its frames: at most `visuals`, of the first `elements` elements. Open
 * shadow roots are entered; elements that may have a closed one, at most `hosts`, are kept in `emptyHosts` of the world. A closed root that
 * is passed as `root` is kept in `closedRoots` for `findClickable`. Properties are read through prototypes: named elements of a page
 * shadow those of its forms and document.
 */
export function measureVisuals(
  limits: { elements: number; visuals: number; hosts: number },
  root: Node = document,
): Measured {
  const SMALLEST = 4;
  const PICTURES = new Set(['img', 'video', 'canvas', 'svg', 'object', 'embed', 'picture']);
  const HOSTS = /-|^(article|aside|blockquote|div|footer|h[1-6]|header|main|nav|p|section|span)$/;
  const found: Visual[] = [];
  const emptyHosts: Element[] = [];
  let looked = 0;
  const boxOf = Element.prototype.getBoundingClientRect;
  const isSeen = (element: Element) =>
    element.checkVisibility({ opacityProperty: true, visibilityProperty: true, contentVisibilityAuto: true });
  const add = (kind: Visual['kind'], { x, y, width, height }: DOMRect) => {
    if (width >= SMALLEST && height >= SMALLEST && found.length < limits.visuals)
      found.push({ kind, x, y, width, height });
  };
  const isPainted = ({ backgroundColor, backgroundImage, borderStyle, borderWidth }: CSSStyleDeclaration) =>
    backgroundImage !== 'none' ||
    !/^(transparent|rgba\(.*, 0\))$/.test(backgroundColor) ||
    (!/^none( none)*$/.test(borderStyle) && !/^0px( 0px)*$/.test(borderWidth));
  const addText = (element: Element) => {
    for (let node = element.firstChild; node; node = node.nextSibling) {
      if (node.nodeType !== Node.TEXT_NODE || !/\S/.test(node.nodeValue ?? '')) continue;
      const range = Document.prototype.createRange.call(document);
      range.selectNodeContents(node);
      add('text', range.getBoundingClientRect());
    }
  };
  // The children of a shadow host are not rendered, unless they are slotted.
  const isEmpty = ({ shadowRoot, firstElementChild }: Element) =>
    !shadowRoot && (!firstElementChild || !isSeen(firstElementChild));
  const look = (element: Element) => {
    const name = element.localName;
    if (name === 'iframe' || name === 'body' || name === 'html' || !isSeen(element)) return;
    const box = boxOf.call(element);
    if (PICTURES.has(name)) {
      if (!(element instanceof HTMLImageElement) || element.naturalWidth > 0) add('picture', box);
      return;
    }
    if (isPainted(getComputedStyle(element))) add('paint', box);
    addText(element);
    if (HOSTS.test(name) && isEmpty(element) && emptyHosts.length < limits.hosts) emptyHosts.push(element);
  };
  const walk = (tree: Node) => {
    const walker = Document.prototype.createTreeWalker.call(document, tree, NodeFilter.SHOW_ELEMENT);
    for (let node = walker.nextNode(); node && looked < limits.elements; node = walker.nextNode()) {
      looked += 1;
      look(node as Element);
      const { shadowRoot } = node as Element;
      if (shadowRoot) walk(shadowRoot);
    }
  };
  walk(root);
  const { closedRoots = new WeakMap() } = globalThis as { closedRoots?: WeakMap<Element, ShadowRoot> };
  if (root instanceof ShadowRoot) closedRoots.set(root.host, root);
  Object.assign(globalThis, { emptyHosts, closedRoots });
  return { visuals: found, emptyHosts: emptyHosts.length, width: innerWidth, scrollX, scrollY };
}
