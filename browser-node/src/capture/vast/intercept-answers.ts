import { ARTIFACT_BYTES_MAX } from '@adsweep/shared/capture/artifacts.ts';
import type { CDPSession, Page } from 'playwright-core';
import { MediaCollector } from './collect-media.ts';

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
 * whether they would have been readable is recorded. Media files are kept, and passed on to the page unchanged.
 */
export class AnswerInterceptor {
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

  static async start(page: Page, pageOrigin: string): Promise<AnswerInterceptor> {
    const session = await page.context().newCDPSession(page);
    const interceptor = new AnswerInterceptor(session, pageOrigin);
    const requestStage = 'Response' as const;
    const patterns = (['Fetch', 'XHR', 'Media'] as const).map((resourceType) => ({ resourceType, requestStage }));
    await session.send('Network.enable');
    await session.send('Fetch.enable', { patterns });
    return interceptor;
  }

  /** Whether the last answer from this URL could be read by a page of another origin. */
  isReadable(url: string): boolean {
    return this.#readable.get(url) ?? false;
  }

  /** The media file that was asked for at this URL, null = it was not kept. */
  media(url: string): KeptMedia | null {
    return this.#media.get(url) ?? null;
  }

  async #decide(paused: Paused): Promise<void> {
    // A request that is gone with its page needs no answer.
    await (paused.resourceType === 'Media' ? this.#keep(paused) : this.#open(paused)).catch(() => this.#pass(paused));
  }

  async #pass({ requestId }: Paused): Promise<void> {
    await this.#session.send('Fetch.continueResponse', { requestId }).catch(() => undefined);
  }

  /** Lets the page read an answer. A request that was redirected to another origin has the origin `null` (Fetch standard, 4.1). */
  async #open(paused: Paused): Promise<void> {
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

  /** Keeps a file that is whole and not too large; the page gets it at once. Streams without an end are never waited for. */
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

/** Whether a request that passed these origins one after the other was redirected from a foreign one to yet another. Pure. */
export const isTainted = (passed: readonly string[], own: string): boolean =>
  passed.some((origin, at) => at > 0 && origin !== passed[at - 1] && passed[at - 1] !== own);

/** Whether an answer is a whole file that may be kept: its length is `known`, or its end will show; null: it is none. (RFC 9110, 15.3.7.) Pure. */
export function extentOf(statusCode: number, headers: readonly Header[]): 'known' | 'unknown' | null {
  const range = /^bytes 0-(\d+)\/(\d+)$/.exec(header(headers, 'content-range'));
  if (statusCode !== 200 && (statusCode !== 206 || !range || Number(range[1]) + 1 !== Number(range[2]))) return null;
  const length = header(headers, 'content-length') || (range?.[2] ?? '');
  if (length === '') return 'unknown';
  return Number(length) > 0 && Number(length) <= ARTIFACT_BYTES_MAX ? 'known' : null;
}

const header = (headers: readonly Header[], name: string): string =>
  headers.find((one) => one.name.toLowerCase() === name)?.value ?? '';
