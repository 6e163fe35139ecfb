import type { Site } from '../site.ts';
import { ADS, CDN, CLICK, type Creative, SHOP } from './creative.ts';

const SIZES = ['300x250', '728x90', '320x50', '300x50'];
/** Longer than a click waits for something to open. */
const SLOW_MS = 4_000;
/** CORS headers: every page may read the answer, and ask with headers of its own, but by no method that is not simple. */
const READABLE = { 'access-control-allow-origin': '*', 'access-control-allow-headers': '*' };
const PIXEL = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64');
/** Content types by extension; anything else is a page. */
const TYPES: Record<string, string> = {
  js: 'text/javascript',
  css: 'text/css',
  json: 'application/json',
  svg: 'image/svg+xml',
};

/** An ad world of its own for one creative: its pages, pictures of any size, a click tracker and the shop that it leads to. */
export function serveCreative(site: Site, { pages = {} }: Pick<Creative, 'pages'>): void {
  for (const size of SIZES) site.setText(`${CDN}/${size}.svg`, 'image/svg+xml', pictureOf(size));
  site.setText(`${ADS}/pixel.gif`, 'image/gif', PIXEL);
  site.setRedirect(CLICK, SHOP);
  site.setPage(SHOP, '<title>Lamps</title><h1>Lamps</h1>');
  for (const [url, text] of Object.entries(pages)) servePage(site, url, text);
}

function servePage(site: Site, url: string, text: string): void {
  const type = TYPES[url.split('.').at(-1) as string];
  if (text.startsWith('-> ')) site.setRedirect(url, text.slice(3));
  else if (text.startsWith('slow -> '))
    site.setRoute(url, (_, response) => {
      setTimeout(() => response.writeHead(302, { location: text.slice('slow -> '.length) }).end(), SLOW_MS);
    });
  else if (text.startsWith('deny:')) site.setPage(url, text.slice(5), { 'x-frame-options': 'DENY' });
  else if (text.startsWith('latin1:'))
    site.setText(url, 'text/html', Buffer.from(text.slice('latin1:'.length), 'latin1'));
  else if (type)
    site.setRoute(url, (_, response) => {
      response.writeHead(200, { 'content-type': type, ...READABLE }).end(text);
    });
  else site.setPage(url, text);
}

function pictureOf(size: string): string {
  const [width, height] = size.split('x');
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"><rect width="100%" height="100%" fill="#7a9"/></svg>`;
}
