import type { Box } from '../box.ts';
import { composeScript } from './compose-script.ts';
import { domReader, type MeasuredWorld } from './dom-reader.ts';

/**
 * What is shown where, from the top left corner of its document's viewport. `picture`: an image, video or canvas;
 * `paint`: a background or border.
 */
export type Visual = Box & { kind: 'picture' | 'text' | 'paint' };
/**
 * `width`: of the viewport, in the document's own CSS pixels. `emptyHosts`: the number of elements that seem empty and
 * may have a closed shadow root.
 */
export type Measured = { visuals: Visual[]; emptyHosts: number; width: number; scrollX: number; scrollY: number };

/**
 * At most `visuals` are returned, of the first `elements` elements, and `hosts` that may have a closed shadow root.
 * `root`: the document by default.
 */
export type Measuring = { elements: number; visuals: number; hosts: number; root?: Node };

/**
 * Runs in the page, in an isolated world: what `root` shows without its frames. Open shadow roots are entered; elements that may have a closed
 * one are kept in the world for {@link readEmptyHosts}. A closed root that is passed as `root` is kept for scripts that run in it later.
 */
export const measureVisuals = composeScript(
  function measureVisuals({ root = document, ...limits }: Measuring, parts: { domReader: typeof domReader }): Measured {
    const SMALLEST = 4;
    const PICTURES = new Set(['img', 'video', 'canvas', 'svg', 'object', 'embed', 'picture']);
    const HOSTS = /-|^(article|aside|blockquote|div|footer|h[1-6]|header|main|nav|p|section|span)$/;
    const { get, shadowRootOf, nameOf, boxOf } = parts.domReader();
    const found: Visual[] = [];
    const emptyHosts: Element[] = [];
    let looked = 0;
    const SEEN = { opacityProperty: true, visibilityProperty: true, contentVisibilityAuto: true };
    const isSeen = (element: Element): boolean => Element.prototype.checkVisibility.call(element, SEEN);
    const add = (kind: Visual['kind'], { x, y, width, height }: DOMRect) => {
      if (width >= SMALLEST && height >= SMALLEST && found.length < limits.visuals)
        found.push({ kind, x, y, width, height });
    };
    const isPainted = ({ backgroundColor, backgroundImage, borderStyle, borderWidth }: CSSStyleDeclaration) =>
      backgroundImage !== 'none' ||
      !/^(transparent|rgba\(.*, 0\))$/.test(backgroundColor) ||
      (!/^none( none)*$/.test(borderStyle) && !/^0px( 0px)*$/.test(borderWidth));
    const addText = (element: Element) => {
      const first: Node | null = get(Node, 'firstChild', element);
      for (let node = first; node; node = get(Node, 'nextSibling', node)) {
        if (!(node instanceof Text) || !/\S/.test(node.data)) continue;
        const range = Document.prototype.createRange.call(document);
        range.selectNodeContents(node);
        add('text', range.getBoundingClientRect());
      }
    };
    // The children of a shadow host are not rendered, unless they are slotted.
    const isEmpty = (element: Element) => {
      const child: Element | null = get(Element, 'firstElementChild', element);
      return !shadowRootOf(element) && (!child || !isSeen(child));
    };
    const look = (element: Element) => {
      const name = nameOf(element);
      if (name === 'iframe' || name === 'body' || name === 'html' || !isSeen(element)) return;
      if (PICTURES.has(name)) {
        if (!(element instanceof HTMLImageElement) || element.naturalWidth > 0) add('picture', boxOf(element));
        return;
      }
      if (isPainted(getComputedStyle(element))) add('paint', boxOf(element));
      addText(element);
      if (HOSTS.test(name) && isEmpty(element) && emptyHosts.length < limits.hosts) emptyHosts.push(element);
    };
    const walk = (tree: Node) => {
      const walker = Document.prototype.createTreeWalker.call(document, tree, NodeFilter.SHOW_ELEMENT);
      for (let node = walker.nextNode(); node && looked < limits.elements; node = walker.nextNode()) {
        looked += 1;
        look(node as Element);
        const shadowRoot = shadowRootOf(node as Element);
        if (shadowRoot) walk(shadowRoot);
      }
    };
    walk(root);
    const world = globalThis as unknown as MeasuredWorld;
    const measured = Symbol.for('measured');
    const closedRoots = world[measured]?.closedRoots ?? new WeakMap();
    if (root instanceof ShadowRoot) closedRoots.set(root.host, root);
    world[measured] = { emptyHosts, closedRoots };
    return { visuals: found, emptyHosts: emptyHosts.length, width: innerWidth, scrollX, scrollY };
  },
  { domReader },
);

/** Runs in the world in which {@link measureVisuals} ran last: the elements that may have a closed shadow root. */
export const readEmptyHosts = (): Element[] =>
  (globalThis as unknown as MeasuredWorld)[Symbol.for('measured')]?.emptyHosts ?? [];
