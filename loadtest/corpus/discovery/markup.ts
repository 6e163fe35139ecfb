/** Width and height as `300x250`. */
export type Size = `${number}x${number}`;

const sides = (size: Size): string[] => size.split('x');
const PARAGRAPH =
  '<p style="margin:0 0 16px;height:80px">The council met on Tuesday to discuss the new bridge over the river. Residents asked when it opens, and who pays for it. The mayor promised an answer by the end of the month.</p>';

/** Lines of an article, each of 96 pixels. */
export const lines = (count: number): string => PARAGRAPH.repeat(count);

/** A page with a heading and an article around `body`. */
export const article = (body: string, { head = '', dir = 'ltr' } = {}): string =>
  `<!doctype html><html lang="en" dir="${dir}"><head><meta charset="utf-8"><title>Town news</title><meta name="viewport" content="width=device-width,initial-scale=1">
<link rel="icon" href="data:,">${head}</head><body style="margin:0;font:16px/20px sans-serif"><header style="height:60px"><h1 style="margin:0">Town news</h1></header>
<main style="max-width:1000px;margin:0 auto">${body}</main><footer style="height:60px">About us</footer></body></html>`;

export const script = (code: string): string => `<script>${code}</script>`;
export const load = (src: string): string => `<script async src="${src}"></script>`;

/** A frame without a border; `more`: further attributes. */
export const frame = (src: string, size: Size, more = ''): string =>
  `<iframe src="${src}" width="${sides(size)[0]}" height="${sides(size)[1]}" style="border:0;display:block" scrolling="no" ${more}></iframe>`;

/** A picture at its size. */
export const picture = (size: Size, host: string): string =>
  `<img src="https://${host}/pictures/${size}.svg" width="${sides(size)[0]}" height="${sides(size)[1]}" style="display:block" alt="">`;

/** A document of a creative. */
export const creativePage = (body: string): string =>
  `<!doctype html><body style="margin:0;overflow:hidden">${body}</body>`;

/** The URL of a shop through click servers, the first one first. */
export const clickUrl = (shop: string, servers: string[] = ['adclick.g.doubleclick.net']): string =>
  servers.reduceRight((to, host) => `https://${host}/click?to=${encodeURIComponent(to)}`, `https://www.${shop}/`);

/** How a creative reacts to a click. */
const CLICKS = {
  anchor: (url: string, inner: string) => `<a href="${url}" target="_blank">${inner}</a>`,
  open: (url: string, inner: string) => `<div style="cursor:pointer" onclick="window.open('${url}')">${inner}</div>`,
  top: (url: string, inner: string) => `<a href="${url}" target="_top">${inner}</a>`,
  handler: (url: string, inner: string) =>
    `<div id="ad">${inner}</div><script>document.getElementById('ad').addEventListener('click', () => { top.location.href = '${url}'; });</script>`,
  clickTag: (url: string, inner: string) =>
    `<script>var clickTag = '${url}';</script><a href="javascript:window.open(window.clickTag)">${inner}</a>`,
} satisfies Record<string, (url: string, inner: string) => string>;
export type ClickKind = keyof typeof CLICKS;

/** A creative with a picture that leads to a shop; the picture is of Google's servers where the first click server is. */
export function banner(size: Size, shop: string, click: ClickKind = 'anchor', servers?: string[]): string {
  const host = servers?.[0]?.endsWith('doubleclick.net') === false ? 'cdn.creatives.example' : 's0.2mdn.net';
  return CLICKS[click](clickUrl(shop, servers), picture(size, host));
}

/** `text` as a literal of a script in HTML. */
export const literal = (text: string): string => JSON.stringify(text).replaceAll('<', '\\x3c');
/** `text` in an attribute. */
export const attribute = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;');
