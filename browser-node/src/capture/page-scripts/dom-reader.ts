export type DomReader = ReturnType<typeof domReader>;

/** What `measureVisuals` keeps in an isolated world, by a symbol: elements of the page shadow names that are not taken. */
export type MeasuredWorld = { [kept: symbol]: { emptyHosts: Element[]; closedRoots: WeakMap<Element, ShadowRoot> } };

/**
 * Part of a page script: reads the DOM through prototypes, because named elements of a page shadow properties of its
 * forms and document, in every world.
 */
export function domReader() {
  const get = (owner: { prototype: object }, name: string, self: object) => Reflect.get(owner.prototype, name, self);
  const parentOf = (node: Node): Element | null => get(Node, 'parentElement', node);
  const shadowRootOf = (element: Element): ShadowRoot | null => get(Element, 'shadowRoot', element);
  const measured = (globalThis as unknown as MeasuredWorld)[Symbol.for('measured')];
  /** The same, or a closed one that `measureVisuals` has found in this world. */
  const anyShadowRootOf = (element: Element): ShadowRoot | null =>
    shadowRootOf(element) ?? measured?.closedRoots.get(element) ?? null;
  /** The elements in a document or shadow root, with those in the shadow roots in it. */
  const elementsIn = function* (within: Node): Generator<Element> {
    const walker = Document.prototype.createTreeWalker.call(document, within, NodeFilter.SHOW_ELEMENT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      yield node as Element;
      const shadowRoot = anyShadowRootOf(node as Element);
      if (shadowRoot) yield* elementsIn(shadowRoot);
    }
  };
  const rootOf = (node: Node): Node => Node.prototype.getRootNode.call(node);
  /** The host of the shadow root that a node is in; null: it is in none. */
  const hostOf = (node: Node): Element | null => {
    const root = rootOf(node);
    return root instanceof ShadowRoot ? root.host : null;
  };
  const nameOf = (element: Element): string => get(Element, 'localName', element);
  const boxOf = (element: Element): DOMRect => Element.prototype.getBoundingClientRect.call(element);
  const textOf = (element: Element, length: number): string => {
    const text =
      element instanceof HTMLElement ? get(HTMLElement, 'innerText', element) : get(Node, 'textContent', element);
    return String(text)
      .replace(/[^\S\n]+/g, ' ')
      .trim()
      .slice(0, length);
  };
  const isVisible = (element: Element): boolean => {
    const { width, height } = boxOf(element);
    return width > 0 && height > 0 && Element.prototype.checkVisibility.call(element, { visibilityProperty: true });
  };
  return { get, parentOf, shadowRootOf, anyShadowRootOf, elementsIn, rootOf, hostOf, nameOf, boxOf, textOf, isVisible };
}
