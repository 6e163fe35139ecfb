export type DocumentLimits = { html: number; title: number; url: number };
export type DocumentFacts = { url: string; title: string; siteName: string; html: string };

/**
 * Runs in the page, in an isolated world. Properties are read through the prototype: a page can shadow those of its
 * document with named elements, in every world.
 */
export function readDocument(limits: DocumentLimits): DocumentFacts {
  const of = (name: string) => Reflect.get(Document.prototype, name, document);
  const root: Element | null = of('documentElement');
  const find = (selector: string): Element | null => Document.prototype.querySelector.call(document, selector);
  const meta = find('meta[property="og:site_name"], meta[name="application-name"]');
  const siteName = (meta && Element.prototype.getAttribute.call(meta, 'content')) ?? '';
  return {
    url: String(of('URL')).slice(0, limits.url),
    title: String(of('title')).slice(0, limits.title),
    siteName: siteName.slice(0, limits.title),
    html: root ? String(Reflect.get(Element.prototype, 'outerHTML', root)).slice(0, limits.html) : '',
  };
}

/** What {@link keepShadowRoots} keeps in an isolated world. */
export type KeptShadowRoots = { [roots: symbol]: ShadowRoot[] | undefined };

/**
 * Runs in the page, in an isolated world, with shadow roots of its document: keeps them there for later scripts, and
 * returns at most `length` characters of their HTML. Page scripts see nothing of it.
 */
export function keepShadowRoots(length: number, ...roots: ShadowRoot[]): string {
  // A symbol: elements of the page shadow names that are not taken.
  (globalThis as KeptShadowRoots)[Symbol.for('shadow roots')] = roots;
  let html = '';
  for (const { mode, innerHTML } of roots) html += `<template shadowrootmode="${mode}">${innerHTML}</template>`;
  return html.slice(0, length);
}

/**
 * Runs in the page, in an isolated world: the text of a document that is laid out, wherever it is, without that of
 * shadow roots.
 */
export function readText(length: number): string {
  const root: Element | null = Reflect.get(Document.prototype, 'documentElement', document);
  const body: HTMLElement | null = Reflect.get(Document.prototype, 'body', document);
  const laidOut = body
    ? Reflect.get(HTMLElement.prototype, 'innerText', body)
    : root
      ? Reflect.get(Node.prototype, 'textContent', root)
      : '';
  return String(laidOut).slice(0, length);
}

/**
 * Runs in the page, in an isolated world: the HTML of a document as it is rendered, open shadow roots included, at most
 * `length` characters. Of a harness page, only `slot` (a selector) and the elements after it.
 */
export function readMarkup({ slot, length }: { slot: string | null; length: number }): string {
  const root = Reflect.get(Document.prototype, 'documentElement', document) as Element | null;
  if (!root) return '';
  const shadowRoots: ShadowRoot[] = [];
  const collect = (within: Node) => {
    const walker = Document.prototype.createTreeWalker.call(document, within, NodeFilter.SHOW_ELEMENT);
    for (let node = walker.nextNode(); node && shadowRoots.length < 1_000; node = walker.nextNode()) {
      const shadowRoot: ShadowRoot | null = Reflect.get(Element.prototype, 'shadowRoot', node);
      if (!shadowRoot) continue;
      shadowRoots.push(shadowRoot);
      collect(shadowRoot);
    }
  };
  collect(document);
  const inner = (element: Element): string => Element.prototype.getHTML.call(element, { shadowRoots });
  const outer = (element: Element): string => Reflect.get(Element.prototype, 'outerHTML', element);
  const withoutContent = (element: Element): string => outer(Node.prototype.cloneNode.call(element, false) as Element);
  const own = slot === null ? null : Document.prototype.querySelector.call(document, slot);
  if (!own)
    return (slot === null ? withoutContent(root) : outer(root))
      .replace(/<\/html>$/i, () => `${inner(root)}</html>`)
      .slice(0, length);
  let markup = inner(own);
  const after = (element: Element): Element | null => Reflect.get(Element.prototype, 'nextElementSibling', element);
  for (let next = after(own); next; next = after(next)) {
    const content = inner(next);
    markup += withoutContent(next).replace(/(<\/[^>]*>)?$/, (end) => content + end);
  }
  return markup.slice(0, length);
}
