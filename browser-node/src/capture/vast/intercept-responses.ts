import { ARTIFACT_BYTES_MAX } from '@adsweep/shared/capture/artifacts.ts';
import type { CDPSession, Page } from 'playwright-core';

type Paused = {
  requestId: string;
  networkId?: string;
  request: { url: string };
  resourceType: string;
  responseStatusCode?: number;
  responseHeaders?: Header[];
};
type Header = { name: string; value: string };

/** A media file as its server sent it, whole. */
export type KeptMedia = { bytes: Buffer; contentType: string };

/**
 * Intercepts the responses to a page. Documents are made readable whatever their servers' CORS headers say, as for a player in an app;
 * whether they would have been readable is recorded. Media files are copied, and passed on to the page unchanged.
 */
export class ResponseInterceptor {
  readonly #session: CDPSession;
  readonly #pageOrigin: string;
  readonly #collector: MediaCollector;
  readonly #origins = new Map<string, string[]>();
  readonly #readable = new Map<string, boolean>();
  readonly #media = new Map<string, KeptMedia>();

  private constructor(session: CDPSession, pageOrigin: string) {
    this.#session = session;
    this.#pageOrigin = pageOrigin;
    this.#collector = new MediaCollector(session);
    session.on('Fetch.requestPaused', (paused) => void this.#decide(paused));
  }

  static async start(page: Page, pageOrigin: string): Promise<ResponseInterceptor> {
    const session = await page.context().newCDPSession(page);
    const interceptor = new ResponseInterceptor(session, pageOrigin);
    const requestStage = 'Response' as const;
    const patterns = (['Fetch', 'XHR', 'Media'] as const).map((resourceType) => ({ resourceType, requestStage }));
    await session.send('Network.enable');
    await session.send('Fetch.enable', { patterns });
    return interceptor;
  }

  /** Whether CORS lets a page of another origin read the last response from this URL. */
  isReadable(url: string): boolean {
    return this.#readable.get(url) ?? false;
  }

  /** The media file from this URL, null = it was not kept. */
  media(url: string): KeptMedia | null {
    return this.#media.get(url) ?? null;
  }

  async #decide(paused: Paused): Promise<void> {
    // A command fails when the request's page has been closed: then nothing needs to continue.
    await (paused.resourceType === 'Media' ? this.#keep(paused) : this.#makeReadable(paused)).catch(() =>
      this.#pass(paused),
    );
  }

  async #pass({ requestId }: Paused): Promise<void> {
    await this.#session.send('Fetch.continueResponse', { requestId }).catch(() => undefined);
  }

  /** Adds CORS headers for the page to a response. A request that was redirected to another origin has the origin `null` (Fetch standard, 4.1). */
  async #makeReadable(paused: Paused): Promise<void> {
    const { requestId, networkId = requestId, request, responseStatusCode, responseHeaders = [] } = paused;
    if (responseStatusCode === undefined) return this.#pass(paused);
    const passed = [...(this.#origins.get(networkId) ?? []), URL.parse(request.url)?.origin ?? ''];
    this.#origins.set(networkId, passed);
    const origin = isTainted(passed, this.#pageOrigin) ? 'null' : this.#pageOrigin;
    const allowed = header(responseHeaders, 'access-control-allow-origin');
    this.#readable.set(request.url, passed.at(-1) === this.#pageOrigin || allowed === '*' || allowed === origin);
    await this.#session.send('Fetch.continueResponse', {
      requestId,
      responseCode: responseStatusCode,
      responseHeaders: [
        ...responseHeaders.filter(({ name }) => !/^access-control-allow-(origin|credentials)$/i.test(name)),
        { name: 'Access-Control-Allow-Origin', value: origin },
        { name: 'Access-Control-Allow-Credentials', value: 'true' },
      ],
    });
  }

  /** Keeps a file that is complete and not too large; the page gets it at once. A stream of unknown length is copied as it arrives. */
  async #keep(paused: Paused): Promise<void> {
    const { requestId, networkId, request, responseStatusCode = 0, responseHeaders = [] } = paused;
    const extent = extentOf(responseStatusCode, responseHeaders);
    const contentType = header(responseHeaders, 'content-type');
    const keep = (bytes: Buffer) => void this.#media.set(request.url, { bytes, contentType });
    if (extent !== 'known') {
      if (extent === 'unknown' && networkId) await this.#collector.collect(networkId, keep).catch(() => undefined);
      return this.#pass(paused);
    }
    const { body, base64Encoded } = await this.#session.send('Fetch.getResponseBody', { requestId });
    keep(Buffer.from(body, base64Encoded ? 'base64' : 'utf8'));
    await this.#session.send('Fetch.fulfillRequest', {
      requestId,
      responseCode: responseStatusCode,
      responseHeaders,
      body: base64Encoded ? body : Buffer.from(body).toString('base64'),
    });
  }
}

/** Whether a request with these origins in its redirects was redirected from a foreign origin to another one. Pure. */
export const isTainted = (passed: readonly string[], own: string): boolean =>
  passed.some((origin, at) => at > 0 && origin !== passed[at - 1] && passed[at - 1] !== own);

/** Whether a response is a complete file that may be kept: of a `known` length, or of one that its end will show; null: it is not (RFC 9110, 15.3.7). Pure. */
export function extentOf(statusCode: number, headers: readonly Header[]): 'known' | 'unknown' | null {
  const range = /^bytes 0-(\d+)\/(\d+)$/.exec(header(headers, 'content-range'));
  if (statusCode !== 200 && (statusCode !== 206 || !range || Number(range[1]) + 1 !== Number(range[2]))) return null;
  const length = header(headers, 'content-length') || (range?.[2] ?? '');
  if (length === '') return 'unknown';
  return Number(length) > 0 && Number(length) <= ARTIFACT_BYTES_MAX ? 'known' : null;
}

const header = (headers: readonly Header[], name: string): string =>
  headers.find((one) => one.name.toLowerCase() === name)?.value ?? '';

type Collected = { chunks: Buffer[]; size: number; done: (bytes: Buffer) => void };

/**
 * Copies responses of unknown length while the page receives them. A response that exceeds the limit of an artifact, or does not end, is not
 * kept.
 */
class MediaCollector {
  readonly #session: CDPSession;
  /** By network request id. */
  readonly #open = new Map<string, Collected>();

  constructor(session: CDPSession) {
    this.#session = session;
    session.on('Network.dataReceived', ({ requestId, data }) => this.#add(requestId, data ?? ''));
    session.on('Network.loadingFinished', ({ requestId }) => this.#finish(requestId));
    session.on('Network.loadingFailed', ({ requestId }) => this.#open.delete(requestId));
  }

  /**
   * Copies a response whose body has not reached the page yet; `done` receives it once it is complete. Rejects where the browser cannot
   * stream it.
   */
  async collect(requestId: string, done: (bytes: Buffer) => void): Promise<void> {
    this.#open.set(requestId, { chunks: [], size: 0, done });
    await this.#session.send('Network.streamResourceContent', { requestId });
  }

  #add(requestId: string, data: string): void {
    const collected = this.#open.get(requestId);
    if (!collected || data === '') return;
    const bytes = Buffer.from(data, 'base64');
    collected.chunks.push(bytes);
    collected.size += bytes.length;
    if (collected.size > ARTIFACT_BYTES_MAX) this.#open.delete(requestId);
  }

  #finish(requestId: string): void {
    const collected = this.#open.get(requestId);
    this.#open.delete(requestId);
    if (collected && collected.size > 0) collected.done(Buffer.concat(collected.chunks));
  }
}
