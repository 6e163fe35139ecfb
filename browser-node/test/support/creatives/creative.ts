/** A creative of the test's ad world, and what a capture of it is to show. URLs are of `CDN`, `ADS` and `SHOP`. */
export type Creative = {
  kind: string;
  tag: string;
  emulator?: string;
  /**
   * What else there is in the ad world, by URL: a page, a script or JSON by its extension, `-> url` a redirect (`slow
   * -> url` after four seconds), `deny:` not to be framed, `latin1:` in that charset.
   */
  pages?: Record<string, string>;
  /** Width and height of what is rendered; null: nothing is. */
  size: [number, number] | null;
  /** The innermost document that shows it; absent: the publisher's page. */
  document?: string;
  /** Where the click leads; null: nowhere. */
  landing: string | null;
  /** The way there; absent: by the click tracker alone. */
  chain?: string[];
  /** What its markup holds. */
  markup: RegExp;
  /** What opens nothing on it; absent: everything opens something. */
  inert?: string;
  /** It asks for nothing by itself, so that it has no chain. */
  asksNothing?: boolean;
  /** It is captured by the tests too, where its group is one of the corpus alone. */
  isTested?: boolean;
  /** System tags that it deserves, beside those of the creative's own. */
  tags?: string[];
  /** Nothing is checked after the click, such as where the creative is gone by then. */
  isUnchecked?: boolean;
};

export const PUBLISHER = 'http://news.publisher.example/articles/1?from=home';
export const ADS = 'http://ads.example';
export const CDN = 'http://cdn.example';
export const SHOP = 'http://shop.example/offer';
export const CLICK = `${ADS}/click`;

/** A picture of the ad world at its size, such as `300x250`. */
export const img = (size: string, more = ''): string =>
  `<img src="${CDN}/${size}.svg" width="${size.split('x')[0]}" height="${size.split('x')[1]}" style="display:block" ${more}>`;

/** A link by the click tracker, with a pixel beside it. */
export const linked = (inner: string, attributes = 'target="_blank"'): string =>
  `<a id="banner" href="${CLICK}" ${attributes}>${inner}</a><img src="${ADS}/pixel.gif" width="1" height="1" style="position:absolute">`;

export const frameOf = (url: string, size = '300x250', more = ''): string =>
  `<iframe src="${url}" width="${size.split('x')[0]}" height="${size.split('x')[1]}" frameborder="0" scrolling="no" ${more}></iframe>`;

export const page = (body: string): string => `<!doctype html><body style="margin:0">${body}</body>`;

/** Markup as a string literal for an inline script. */
export const quoted = (markup: string): string => JSON.stringify(markup).replace(/</g, '\\x3c');

export const written = (markup: string): string => `document.write(${quoted(markup)})`;

/** A painted box of a medium rectangle; `more` is appended to its style, and may end the attribute. */
export const box = (more: string, inner = 'Buy a lamp'): string =>
  `<div style="width:300px;height:250px;background:#cde;${more}">${inner}</div>`;
