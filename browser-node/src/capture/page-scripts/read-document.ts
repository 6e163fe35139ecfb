export type DocumentLimits = { html: number; text: number; title: number; url: number };
export type DocumentFacts = { url: string; title: string; siteName: string; text: string; html: string };

/**
 * Runs in the page, in an isolated world. Properties are read through the prototype: a page can shadow those of its document with
 * named elements, in every world.
 */
export function readDocument(limits: DocumentLimits): DocumentFacts {
  const of = (name: string) => Reflect.get(Document.prototype, name, document);
  const root: Element | null = of('documentElement');
  const body: HTMLElement | null = of('body');
  const find = (selector: string): Element | null => Document.prototype.querySelector.call(document, selector);
  const siteName = find('meta[property="og:site_name"], meta[name="application-name"]')?.getAttribute('content') ?? '';
  const visible = body ? Reflect.get(HTMLElement.prototype, 'innerText', body) : (root?.textContent ?? '');
  return {
    url: String(of('URL')).slice(0, limits.url),
    title: String(of('title')).slice(0, limits.title),
    siteName: siteName.slice(0, limits.title),
    text: String(visible).slice(0, limits.text),
    html: root ? root.outerHTML.slice(0, limits.html) : '',
  };
}

/**
 * Runs in the page, in an isolated world: the HTML of a document as it is rendered, open shadow roots included, at most `length`
 * characters. Of a harness page, only `slot` (a selector) and the elements after it.
 */
export function readMarkup({ slot, length }: { slot: string | null; length: number }): string {
  const root = Reflect.get(Document.prototype, 'documentElement', document) as Element | null;
  if (!root) return '';
  const shadowRoots: ShadowRoot[] = [];
  const collect = (within: Node) => {
    const walker = Document.prototype.createTreeWalker.call(document, within, NodeFilter.SHOW_ELEMENT);
    for (let node = walker.nextNode(); node && shadowRoots.length < 1_000; node = walker.nextNode()) {
      const { shadowRoot } = node as Element;
      if (!shadowRoot) continue;
      shadowRoots.push(shadowRoot);
      collect(shadowRoot);
    }
  };
  collect(document);
  const inner = (element: Element): string => element.getHTML({ shadowRoots });
  const own = slot === null ? null : Document.prototype.querySelector.call(document, slot);
  if (!own)
    return (slot === null ? (root.cloneNode(false) as Element) : root).outerHTML
      .replace(/<\/html>$/i, `${inner(root)}</html>`)
      .slice(0, length);
  let markup = inner(own);
  for (let next = own.nextElementSibling; next; next = next.nextElementSibling)
    markup += (next.cloneNode(false) as Element).outerHTML.replace(
      /(<\/[^>]*>)?$/,
      (end) => inner(next as Element) + end,
    );
  return markup.slice(0, length);
}
