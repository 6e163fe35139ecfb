import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Handler, Site } from '../../../browser-node/test/support/site.ts';
import { attribute, creativePage, literal, type Size } from './markup.ts';
import { type PublisherPage, urlOf } from './publisher-page.ts';

const MEDIA = join(import.meta.dirname, '../../../browser-node/test/pages/media/film-without-sound.webm');
const scriptFile = (name: string): string => readFileSync(join(import.meta.dirname, 'scripts', name), 'utf8');

/** Libraries of ad networks by their URL. */
const LIBRARIES: Record<string, string> = {
  'https://securepubads.g.doubleclick.net/tag/js/gpt.js': 'gpt.js',
  'https://pagead2.googlesyndication.com/pagead/js/adsbygoogle.js': 'adsense.js',
  'https://acdn.adnxs.com/prebid/prebid.js': 'prebid.js',
  'https://cdn.taboola.com/libtrc/publisher/loader.js': 'native.js',
  'https://widgets.outbrain.com/outbrain.js': 'native.js',
  'https://jsc.mgid.com/site.js': 'native.js',
  'https://imasdk.googleapis.com/js/sdkloader/ima3.js': 'video.js',
  'https://a.teads.tv/page/1/tag': 'video.js',
  'https://cdn.ampproject.org/v0.js': 'amp-ad.js',
};

/**
 * Ad servers by URL. Each is asked for the creative of the ad unit in its query, and answers with a document (`page`), bare markup that any page may
 * read (`markup`), or a script that writes it (`script`).
 */
const AD_SERVERS: Record<string, 'page' | 'markup' | 'script'> = {
  'https://securepubads.g.doubleclick.net/gampad/ads': 'markup',
  'https://googleads.g.doubleclick.net/pagead/ads': 'page',
  'https://pubads.g.doubleclick.net/gampad/ads': 'markup',
  'https://aax.amazon-adsystem.com/e/dtb/admi': 'page',
  'https://trc.taboola.com/items': 'markup',
  'https://odb.outbrain.com/items': 'markup',
  'https://servicer.mgid.com/items': 'markup',
  'https://ib.adnxs.com/tt': 'page',
  'https://ib.adnxs.com/ttj': 'script',
  'https://ib.adnxs.com/ut/v3/prebid': 'markup',
  'https://ads.eu.criteo.com/delivery/r/afr.php': 'page',
  'https://fastlane.rubiconproject.com/a/api/fastlane.json': 'markup',
  'https://ads.pubmatic.com/AdServer/AdServerServlet': 'page',
  'https://u.openx.net/w/1.0/arj': 'page',
  'https://a.teads.tv/vast': 'markup',
  'https://syndication.exoclick.com/ads-iframe-display.php': 'page',
  'https://ads.small-server.example/www/delivery/afr.php': 'page',
  'https://ads.small-server.example/www/delivery/ajs.php': 'script',
};

/** Hosts that count clicks and redirect to where their query says. */
const CLICK_SERVERS = [
  'adclick.g.doubleclick.net',
  'clk.adnxs.com',
  'beacon.rubiconproject.com',
  'clktrack.pubmatic.com',
  'clicks.openx.net',
  'cat.criteo.com',
  'aax.amazon-adsystem.com',
  'trc.taboola.com',
  'paid.outbrain.com',
  'clicks.mgid.com',
  'clicks.small-server.example',
];
const PICTURE_HOSTS = ['s0.2mdn.net', 'images.taboola.com', 'static.criteo.net', 'cdn.creatives.example'];
const PICTURE_SIZES: Size[] = [
  ...(['300x250', '728x90', '160x600', '320x50', '300x600', '970x250', '336x280', '320x480'] as const),
  ...(['240x160', '468x60', '120x600', '640x360'] as const),
];
const READABLE = { 'access-control-allow-origin': '*' };

/** Serves all pages with the ad servers, click servers and shops that they use. */
export function servePages(site: Site, pages: readonly PublisherPage[]): void {
  const units = new Map(pages.flatMap((page) => Object.entries(page.units ?? {})));
  for (const [url, kind] of Object.entries(AD_SERVERS)) site.setRoute(url, adServer(kind, units));
  for (const [url, file] of Object.entries(LIBRARIES)) site.setText(url, 'text/javascript', scriptFile(file));
  for (const host of CLICK_SERVERS) site.setRoute(`https://${host}/click`, redirectToQuery);
  for (const host of PICTURE_HOSTS) servePictures(site, host);
  site.setText('https://s0.2mdn.net/film.webm', 'video/webm', readFileSync(MEDIA));
  site.setPage('https://5f2c.safeframe.googlesyndication.com/safeframe/1-0-40/html/container.html', SAFEFRAME);
  for (const page of pages) servePage(site, page);
}

function servePage(site: Site, page: PublisherPage): void {
  const url = urlOf(page);
  site.setPage(url, page.html);
  servePictures(site, new URL(url).hostname);
  for (const [own, text] of Object.entries(page.files ?? {}))
    if (own.endsWith('.js')) site.setText(own, 'text/javascript', text);
    else site.setPage(own, text);
  for (const { landing } of page.ads)
    site.setPage(`https://www.${landing}/`, `<!doctype html><title>${landing}</title><h1>Offers of ${landing}</h1>`);
}

function servePictures(site: Site, host: string): void {
  for (const size of PICTURE_SIZES) site.setText(`https://${host}/pictures/${size}.svg`, 'image/svg+xml', drawn(size));
}

const queryOf = (path: string): URLSearchParams => new URL(path, 'https://any.example').searchParams;

const adServer =
  (kind: 'page' | 'markup' | 'script', units: ReadonlyMap<string, string>): Handler =>
  (request, response) => {
    const query = queryOf(request.url ?? '');
    const markup = units.get(query.get('unit') ?? query.get('iu') ?? '') ?? '';
    const [type, body] = {
      page: ['text/html', creativePage(markup)],
      markup: [markup.startsWith('<VAST') ? 'text/xml' : 'text/html', markup],
      script: ['text/javascript', `document.write(${literal(markup)});`],
    }[kind] as [string, string];
    response.writeHead(200, { 'content-type': `${type}; charset=utf-8`, ...READABLE }).end(body);
  };

const redirectToQuery: Handler = (request, response) => {
  response.writeHead(302, { location: queryOf(request.url ?? '').get('to') ?? '/' }).end();
};

/** The document of a SafeFrame: it shows the markup in its own name. */
const SAFEFRAME = `<!doctype html><title>SafeFrame Container</title><body style="margin:0"><script>
const [, length, rest] = /^[\\d-]+;(\\d+);([\\s\\S]*)$/.exec(window.name);
document.write(rest.slice(0, Number(length)));
</script></body>`;

function drawn(size: Size): string {
  const [width, height] = size.split('x');
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"><rect width="100%" height="100%" fill="#27a"/><text x="8" y="30" fill="#fff">${attribute(size)}</text></svg>`;
}
