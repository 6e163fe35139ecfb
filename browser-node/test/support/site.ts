import { readFileSync } from 'node:fs';
import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import { TEST_CERTIFICATE } from '../../../infra/demo/test-certificate.ts';

/** Answers one request of a {@link Site}. */
export type Handler = (request: IncomingMessage, response: ServerResponse) => void;
/** A request that arrived: `url` as the browser meant it, headers as they came, in order. */
export type Arrival = { method: string; url: string; headers: http.IncomingHttpHeaders };

const PAGES = new URL('../pages/', import.meta.url);

/**
 * A local web of any number of hosts: whoever speaks to it names the host in `Host`, http and https (self-signed). Unknown
 * addresses answer 404, `/favicon.ico` 204.
 */
export class Site {
  readonly arrivals: Arrival[] = [];
  readonly #routes = new Map<string, Handler>();
  readonly #waiting = new Map<string, (arrival: Arrival) => void>();
  readonly #http = http.createServer((request, response) => this.#answer('http', request, response));
  readonly #https: https.Server;

  constructor() {
    this.#https = https.createServer(TEST_CERTIFICATE, (request, response) => this.#answer('https', request, response));
  }

  static async start(): Promise<Site> {
    const site = new Site();
    await Promise.all([listen(site.#http), listen(site.#https)]);
    return site;
  }

  get httpPort(): number {
    return (this.#http.address() as AddressInfo).port;
  }

  get httpsPort(): number {
    return (this.#https.address() as AddressInfo).port;
  }

  /** Serves `url` (its query does not count) with a handler. */
  setRoute(url: string, handler: Handler): void {
    this.#routes.set(withoutQuery(url), handler);
  }

  /** Serves `url` with HTML. */
  setPage(url: string, html: string, headers: http.OutgoingHttpHeaders = {}, status = 200): void {
    this.setRoute(url, (_, response) => {
      response.writeHead(status, { 'content-type': 'text/html; charset=utf-8', ...headers }).end(html);
    });
  }

  /** Serves `url` with the file `pages/<name>.html`. */
  setPageFile(url: string, name: string): void {
    this.setPage(url, readFileSync(new URL(`${name}.html`, PAGES), 'utf8'));
  }

  setText(url: string, contentType: string, text: string | Uint8Array): void {
    this.setRoute(url, (_, response) => {
      response.writeHead(200, { 'content-type': contentType }).end(text);
    });
  }

  setRedirect(url: string, to: string, status = 302): void {
    this.setRoute(url, (_, response) => {
      response.writeHead(status, { location: to }).end();
    });
  }

  /** Resolves with the next request for `url`. */
  waitForRequest(url: string): Promise<Arrival> {
    return new Promise((resolve) => this.#waiting.set(withoutQuery(url), resolve));
  }

  /** The requested URLs, in order. */
  urls(): string[] {
    return this.arrivals.map((arrival) => arrival.url);
  }

  /** The names of all hosts that it serves. */
  hosts(): string[] {
    return [...new Set([...this.#routes.keys()].map((url) => new URL(url).hostname))];
  }

  /** Forgets routes and arrivals. */
  reset(): void {
    this.#routes.clear();
    this.#waiting.clear();
    this.arrivals.length = 0;
  }

  async close(): Promise<void> {
    for (const server of [this.#http, this.#https]) {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }
  }

  #answer(scheme: string, request: IncomingMessage, response: ServerResponse): void {
    const url = `${scheme}://${request.headers.host}${request.url}`;
    const arrival = { method: request.method ?? '', url, headers: request.headers };
    this.arrivals.push(arrival);
    const key = withoutQuery(url);
    this.#waiting.get(key)?.(arrival);
    this.#waiting.delete(key);
    const handler = this.#routes.get(key);
    if (handler) handler(request, response);
    else response.writeHead(key.endsWith('/favicon.ico') ? 204 : 404).end();
  }
}

const withoutQuery = (url: string): string => url.split('?')[0] as string;

function listen(server: http.Server | https.Server): Promise<void> {
  return new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
}
