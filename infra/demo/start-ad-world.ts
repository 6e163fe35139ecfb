import type { IncomingMessage, ServerResponse } from 'node:http';
import { TLSSocket } from 'node:tls';
import { listenEither } from './either-server.ts';
import { type Answer, ok, page, type Reply, type Site } from './reply.ts';
import { adWorldSites } from './sites.ts';
import { TEST_CERTIFICATE } from './test-certificate.ts';

/** One request that reached the ad world; `at_ms` Unix time in milliseconds, `referer` '': none. */
export type LoggedRequest = { method: string; url: string; referer: string; user_agent: string; at_ms: number };

export type AdWorld = {
  port: number;
  /** The `address:port` of each host, for http and https alike. */
  hosts: Record<string, string>;
  log: LoggedRequest[];
  /** Adds a page. `url`: on a host of the ad world. */
  setPage: (url: string, markup: string) => void;
  close: () => Promise<void>;
};

/** The log keeps this many requests, the newest. */
const LOG_LENGTH_MAX = 20_000;

/**
 * Starts the local ad world: a publisher, an ad server, a tracker, redirectors and landings in one process, distinguished by the
 * Host header. Under its own address it serves a table of contents and, at `/log`, the requests that it received.
 */
export async function startAdWorld({ host = '127.0.0.1', port = 0 } = {}): Promise<AdWorld> {
  const sites = adWorldSites();
  const names = Object.keys(sites);
  const log: LoggedRequest[] = [];
  const server = await listenEither({ host, port }, TEST_CERTIFICATE, (request, response) => {
    const url = urlOf(request);
    request.resume();
    const site = sites[url.hostname];
    if (!site) return send(response, ownPage(sites, url, log));
    log.push(logged(request, url));
    if (log.length > LOG_LENGTH_MAX) log.shift();
    answer(response, site, url);
  });
  const place = `${host}:${server.port}`;
  const hosts = Object.fromEntries(names.map((name) => [name, place]));
  const setPage = (url: string, markup: string) => {
    const { hostname, pathname } = new URL(url);
    const site = sites[hostname];
    if (!site) throw new Error(`the ad world has no host ${hostname}`);
    site[pathname] = ok('html', markup);
  };
  return { port: server.port, hosts, log, setPage, close: server.close };
}

/** The requested URL; a request line that is not a path gives the host's root. */
function urlOf(request: IncomingMessage): URL {
  const scheme = request.socket instanceof TLSSocket ? 'https' : 'http';
  const base = URL.parse(`${scheme}://${request.headers.host ?? ''}`) ?? new URL(`${scheme}://unknown.invalid`);
  return URL.parse(request.url ?? '/', base) ?? base;
}

function logged(request: IncomingMessage, url: URL): LoggedRequest {
  const { referer = '', 'user-agent': user_agent = '' } = request.headers;
  return { method: request.method ?? '', url: url.href, referer, user_agent, at_ms: Date.now() };
}

function answer(response: ServerResponse, site: Site, url: URL): void {
  const chosen: Answer = Object.hasOwn(site, url.pathname) ? site[url.pathname]! : notFound;
  if (chosen === 'silence') return;
  if (chosen === 'hang_up') {
    response.destroy();
    return;
  }
  send(response, typeof chosen === 'function' ? chosen(url) : chosen);
}

/** Nothing is cached, so that every request is in the log. */
function send(response: ServerResponse, { status, headers, body }: Reply): void {
  const length = status === 204 ? {} : { 'content-length': String(Buffer.byteLength(body)) };
  response.writeHead(status, { 'cache-control': 'no-store', ...length, ...headers });
  response.end(response.req.method === 'HEAD' ? undefined : body);
}

const notFound: Reply = {
  ...page('Not ok', '', '<h1>Not ok</h1><p>There is no page at this address.</p>'),
  status: 404,
};

function ownPage(sites: Record<string, Site>, url: URL, log: LoggedRequest[]): Reply {
  if (url.pathname === '/log') return ok('json', JSON.stringify(log));
  if (url.pathname !== '/') return notFound;
  const rows = Object.entries(sites).map(
    ([host, site]) =>
      `<h2>${host}</h2><p>${Object.keys(site)
        .map((path) => `<code>${path}</code>`)
        .join(' &middot; ')}</p>`,
  );
  const words =
    '<p>A small web of ads on one port. Its hosts are reached through the gateway, which maps their names here.</p>';
  return page('The local ad world', '', `<h1>The local ad world</h1>${words}${rows.join('')}`);
}
