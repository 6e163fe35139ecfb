export type DocumentLimits = { html: number; text: number; title: number; url: number };
export type DocumentFacts = { url: string; title: string; siteName: string; text: string; html: string };

/**
 * Runs in the page, in a world of its own. Properties are read through the prototype: a page can shadow those of its document with
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
