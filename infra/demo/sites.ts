import { globSync, readFileSync } from 'node:fs';
import { extname, join, sep } from 'node:path';
import { LONGEST_CHAIN, PARCEL_CHAIN, stepsOn } from './chains.ts';
import { jingle } from './jingle.ts';
import { redirectBy, WAYS, type Way } from './redirects.ts';
import { type Answer, ok, page, type Site } from './reply.ts';

const WEB = join(import.meta.dirname, 'web');
const SHOP = 'http://quiet.shop.example/';
const CHAINS = [LONGEST_CHAIN, PARCEL_CHAIN];

/** The smallest GIF: one transparent pixel. */
const PIXEL = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64');
const pixel: Answer = {
  ...ok('gif', PIXEL),
  headers: { 'content-type': 'image/gif', 'access-control-allow-origin': '*' },
};
const noContent: Answer = { status: 204, headers: { 'access-control-allow-origin': '*' }, body: '' };

/** Responses that are generated, in addition to the files in `web/`. */
const generated: Record<string, Site> = {
  'news.publisher.example': {},
  'ads.adserver.example': { ...stepsOn('ads.adserver.example', CHAINS), '/bid': bid, '/view.gif': pixel },
  'video.adserver.example': {},
  'track.tracker.example': {
    ...stepsOn('track.tracker.example', CHAINS),
    '/pixel.gif': pixel,
    '/collect': noContent,
    '/c/carousel': redirectBy('302', SHOP),
  },
  'go.redirects.example': { ...stepsOn('go.redirects.example', CHAINS), ...eachWay(), '/to': openRedirect },
  'odd.redirects.example': {
    '/never': 'silence',
    '/cut': 'hang_up',
    '/loop': redirectBy('302', '/loop'),
    '/scriptloop': scriptLoop,
    '/download': {
      status: 200,
      headers: {
        'content-type': 'application/octet-stream',
        'content-disposition': 'attachment; filename="player.bin"',
      },
      body: Buffer.alloc(1024, 0x2a),
    },
    '/nocontent': noContent,
    '/error': { ...page('Out of order', '', '<h1>500</h1><p>This page is out of order.</p>'), status: 500 },
  },
  'quiet.shop.example': {},
  'stuck.offers.example': {},
  'loud.casino.example': { '/jingle.wav': ok('wav', jingle()) },
  'adsweep-demo.adnxs.com': { '/it.gif': pixel },
  'adsweep-demo.criteo.com': { '/view.gif': pixel },
  'adsweep-demo.taboola.com': { '/click': redirectBy('302', SHOP) },
  'adsweep-demo.teads.tv': {},
  'adsweep-demo.popads.net': { '/go': redirectBy('302', 'http://loud.casino.example/') },
};

/** Every host of the ad world with all its paths. */
export function adWorldSites(): Record<string, Site> {
  const hosts = Object.entries(generated);
  return Object.fromEntries(
    hosts.map(([host, site]) => [host, { '/favicon.ico': icon(host), ...filesOf(host), ...site }]),
  );
}

/** The files of a host: `index.html` at its folder's path, other pages without `.html`. */
function filesOf(host: string): Site {
  const files = globSync('**/*.*', { cwd: join(WEB, host) });
  return Object.fromEntries(
    files.map((file) => [pathOf(file), ok(extname(file).slice(1), readFileSync(join(WEB, host, file)))]),
  );
}

const pathOf = (file: string): string =>
  `/${file
    .split(sep)
    .join('/')
    .replace(/(^|\/)index\.html$|\.html$/, '$1')}`;

/** `/by/<way>`: one redirect to the shop, of that kind. */
function eachWay(): Site {
  return Object.fromEntries(Object.keys(WAYS).map((way) => [`/by/${way}`, redirectBy(way as Way, SHOP)]));
}

/** Redirects to `?url=`, as careless redirectors do and attackers exploit. */
function openRedirect(url: URL) {
  const to = URL.parse(url.searchParams.get('url') ?? '');
  return redirectBy('302', to?.href ?? SHOP);
}

/** The ad server's response to a slot's request for a creative. */
function bid(url: URL) {
  const slot = url.searchParams.get('slot') === 'leaderboard' ? 'leaderboard' : 'rectangle';
  const answer = { slot, creative: `http://ads.adserver.example/slot/${slot}`, price_micros: 1200 };
  const headers = { 'content-type': 'application/json', 'access-control-allow-origin': '*' };
  return { status: 200, headers, body: JSON.stringify(answer) };
}

function scriptLoop(url: URL) {
  const round = Number(url.searchParams.get('round') ?? 0) + 1;
  return page(
    `Round ${round}`,
    `<script>location.href = '/scriptloop?round=${round}';</script>`,
    '<p>Round and round.</p>',
  );
}

function icon(host: string): Answer {
  const hue = [...host].reduce((sum, char) => sum + char.charCodeAt(0) * 7, 0) % 360;
  const letter = host.split('.').at(-2)!.charAt(0).toUpperCase();
  return ok(
    'svg',
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="hsl(${hue} 45% 38%)"/>` +
      `<text x="16" y="23" font-family="sans-serif" font-size="20" font-weight="700" fill="#fff" text-anchor="middle">${letter}</text></svg>`,
  );
}
