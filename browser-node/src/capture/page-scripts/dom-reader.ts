export type DomReader = ReturnType<typeof domReader>;

/** Part of a page script: reads the DOM through prototypes, because named elements of a page shadow properties of its forms and document. */
export function domReader() {
  const get = (owner: { prototype: object }, name: string, self: object) => Reflect.get(owner.prototype, name, self);
  const parentOf = (node: Node): Element | null => get(Node, 'parentElement', node);
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
  return { get, parentOf, boxOf, textOf, isVisible };
}
