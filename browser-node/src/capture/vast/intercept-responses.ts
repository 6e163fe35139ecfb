import { ARTIFACT_BYTES_MAX } from '@adsweep/shared/capture/artifacts.ts';
import type { CDPSession, Page } from 'playwright-core';
import { StoredFile } from '../session/stored-file.ts';
import { urlKey } from '../session/urls.ts';

type Paused = {
  requestId: string;
  networkId?: string;
  frameId: string;
  request: { url: string };
  resourceType: string;
  responseStatusCode?: number;
  responseHeaders?: Header[];
};
type Header = { name: string; value: string };

/** A media file as its server sent it, whole; a large one is on the disk. */
export type KeptMedia = { bytes: Buffer | StoredFile; contentType: string };

/**
 * A response of a known length up to this many bytes is read whole before the page gets it; others are written to the
 * disk as they arrive.
 */
const WHOLE_BYTES_MAX = 4_000_000;

/** The main frame of the player's page. */
type PlayerFrame = { frameId: string; origin: string };

/**
 * Intercepts the responses to the player's own requests, as far as they are announced; those of scripts and frames of
 * an ad pass. Documents are made readable whatever their servers' CORS headers say, as for a player in an app; whether
 * they would have been readable is recorded. Media files are copied, and passed on to the page unchanged.
 */
export class ResponseInterceptor {
  readonly #session: CDPSession;
  readonly #page: PlayerFrame;
  readonly #collector: MediaCollector;
  /** Keys of URLs that the player is about to request. */
  readonly #announced = { documents: new Set<string>(), media: new Set<string>() };
  /**
   * The player's requests over their redirects, by network request id: of documents their origins, of media their first
   * URL.
   */
  readonly #documents = new Map<string, string[]>();
  readonly #mediaUrls = new Map<string, string>();
  readonly #readable = new Map<string, boolean>();
  readonly #media = new Map<string, KeptMedia>();
  /**
   * The lengths and types of announced media files, as far as their servers state them, and those in which {@link HEVC}
   * was found.
   */
  readonly #lengths = new Map<string, number>();
  readonly #contentTypes = new Map<string, string>();
  readonly #hevc = new Set<string>();
  /** Files that are being finished. */
  readonly #finishing = new Set<Promise<unknown>>();

  private constructor(session: CDPSession, page: PlayerFrame) {
    this.#session = session;
    this.#page = page;
    this.#collector = new MediaCollector(session);
    session.on('Fetch.requestPaused', (paused) => void this.#decide(paused));
  }

  static async start(page: Page, frameId: string, origin: string): Promise<ResponseInterceptor> {
    const session = await page.context().newCDPSession(page);
    const interceptor = new ResponseInterceptor(session, { frameId, origin });
    const requestStage = 'Response' as const;
    const patterns = (['Fetch', 'Media'] as const).map((resourceType) => ({ resourceType, requestStage }));
    await session.send('Network.enable');
    await session.send('Fetch.enable', { patterns });
    return interceptor;
  }

  /** The player is about to fetch this document. */
  announceDocument(url: string): void {
    this.#announced.documents.add(urlKey(url));
  }

  /** The player is about to load this media file; files that it loaded before are forgotten. */
  announceMedia(url: string): void {
    for (const { bytes } of this.#media.values()) if (bytes instanceof StoredFile) void bytes.remove();
    this.#media.clear();
    this.#announced.media.add(urlKey(url));
  }

  /** Whether CORS lets a page of another origin read the last response from this URL. */
  isReadable(url: string): boolean {
    return this.#readable.get(url) ?? false;
  }

  /** The media file that was announced at this URL, which the caller owns from now on; null = it was not kept. */
  async takeMedia(url: string): Promise<KeptMedia | null> {
    await Promise.all(this.#finishing);
    const kept = this.#media.get(urlKey(url)) ?? null;
    this.#media.delete(urlKey(url));
    return kept;
  }

  /** The length of a media file that was announced at this URL in bytes, null = not known. */
  lengthOfMedia(url: string): number | null {
    return this.#media.get(urlKey(url))?.bytes.length ?? this.#lengths.get(urlKey(url)) ?? null;
  }

  /** The type that the server of an announced media file states, '' = none. */
  contentTypeOfMedia(url: string): string {
    return this.#contentTypes.get(urlKey(url)) ?? '';
  }

  /** Whether what came of an announced media file so far names HEVC. */
  isHevc(url: string): boolean {
    return this.#hevc.has(urlKey(url));
  }

  async #decide(paused: Paused): Promise<void> {
    // A command fails when the request's page has been closed: then nothing needs to continue.
    await this.#handle(paused).catch(() => this.#pass(paused));
  }

  async #handle(paused: Paused): Promise<void> {
    const { requestId, networkId = requestId, request, frameId, resourceType } = paused;
    const key = urlKey(request.url);
    const isOwn = frameId === this.#page.frameId;
    if (resourceType === 'Media') {
      // A media element requests its file more than once.
      if (isOwn && this.#announced.media.has(key)) this.#mediaUrls.set(networkId, key);
      const url = this.#mediaUrls.get(networkId);
      return url === undefined ? this.#pass(paused) : this.#keep(paused, url);
    }
    if (isOwn && this.#announced.documents.delete(key)) this.#documents.set(networkId, []);
    const origins = this.#documents.get(networkId);
    return origins ? this.#makeReadable(paused, origins) : this.#pass(paused);
  }

  async #pass({ requestId }: Paused): Promise<void> {
    await this.#session.send('Fetch.continueResponse', { requestId }).catch(() => undefined);
  }

  /**
   * Adds CORS headers for the page to a response. `origins`: those of the request's redirects so far; a request that
   * was redirected to another origin has the origin `null` (Fetch standard, 4.1).
   */
  async #makeReadable(paused: Paused, origins: string[]): Promise<void> {
    const { requestId, request, responseStatusCode, responseHeaders = [] } = paused;
    if (responseStatusCode === undefined) return this.#pass(paused);
    origins.push(URL.parse(request.url)?.origin ?? '');
    const own = this.#page.origin;
    const origin = isTainted(origins, own) ? 'null' : own;
    const allowed = header(responseHeaders, 'access-control-allow-origin');
    this.#readable.set(request.url, origins.at(-1) === own || allowed === '*' || allowed === origin);
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

  /**
   * Keeps a file that is complete and not too large: a small one at once, others as the page receives them. `url`: that
   * of its first request.
   */
  async #keep(paused: Paused, url: string): Promise<void> {
    const { requestId, networkId, responseStatusCode = 0, responseHeaders = [] } = paused;
    const length = lengthOf(responseStatusCode, responseHeaders);
    const contentType = header(responseHeaders, 'content-type');
    const onBytes = (bytes: Buffer) => {
      if (HEVC.some((name) => bytes.includes(name))) this.#hevc.add(url);
    };
    if (contentType) this.#contentTypes.set(url, contentType);
    if (typeof length === 'number') this.#lengths.set(url, length);
    if (typeof length !== 'number' || length > WHOLE_BYTES_MAX) {
      // Only a complete file is kept.
      const file = length === null ? null : await StoredFile.create();
      const onEnd = (isWhole: boolean) => file && this.#finish(file, isWhole, { url, contentType });
      if (networkId) await this.#collector.collect(networkId, { onBytes, file, onEnd }).catch(() => onEnd(false));
      return this.#pass(paused);
    }
    const { body, base64Encoded } = await this.#session.send('Fetch.getResponseBody', { requestId });
    const bytes = Buffer.from(body, base64Encoded ? 'base64' : 'utf8');
    onBytes(bytes);
    this.#media.set(url, { bytes, contentType });
    await this.#session.send('Fetch.fulfillRequest', {
      requestId,
      responseCode: responseStatusCode,
      responseHeaders,
      body: base64Encoded ? body : Buffer.from(body).toString('base64'),
    });
  }

  #finish(file: StoredFile, isWhole: boolean, { url, contentType }: { url: string; contentType: string }): void {
    const finishing = isWhole
      ? file.finish().then(
          (bytes) => void this.#media.set(url, { bytes, contentType }),
          // A full disk costs only the copy.
          () => file.remove(),
        )
      : file.remove();
    this.#finishing.add(finishing);
    void finishing.then(() => this.#finishing.delete(finishing));
  }
}

/** Whether a request with these origins in its redirects was redirected from a foreign origin to another one. Pure. */
export const isTainted = (passed: readonly string[], own: string): boolean =>
  passed.some((origin, at) => at > 0 && origin !== passed[at - 1] && passed[at - 1] !== own);

/**
 * The length of a response that is a complete file and may be kept, 'unknown' = its end will show it; null: it is not
 * (RFC 9110, 15.3.7). Pure.
 */
export function lengthOf(statusCode: number, headers: readonly Header[]): number | 'unknown' | null {
  const range = /^bytes 0-(\d+)\/(\d+)$/.exec(header(headers, 'content-range'));
  if (statusCode !== 200 && (statusCode !== 206 || !range || Number(range[1]) + 1 !== Number(range[2]))) return null;
  const length = header(headers, 'content-length') || (range?.[2] ?? '');
  if (length === '') return 'unknown';
  return Number(length) > 0 && Number(length) <= ARTIFACT_BYTES_MAX ? Number(length) : null;
}

const header = (headers: readonly Header[], name: string): string =>
  headers.find((one) => one.name.toLowerCase() === name)?.value ?? '';

/** Names of HEVC's sample entries (ISO/IEC 14496-15): devices decode it in hardware, our Chromium cannot. */
export const HEVC = ['hvc1', 'hev1'];
const NAME_BYTES = 4;

/**
 * What is done with a response: `onBytes` receives each part of it, with some bytes before it; `file` null: it is not
 * kept.
 */
type Copying = { onBytes: (bytes: Buffer) => void; file: StoredFile | null; onEnd: (isWhole: boolean) => void };
/** `last`: the last bytes, with which a name may begin. */
type Collected = Copying & { size: number; last: Buffer };

/**
 * Copies responses while the page receives them. A response that exceeds the limit of an artifact, or does not end, is
 * not kept.
 */
class MediaCollector {
  readonly #session: CDPSession;
  /** By network request id. */
  readonly #open = new Map<string, Collected>();

  constructor(session: CDPSession) {
    this.#session = session;
    session.on('Network.dataReceived', ({ requestId, data }) => this.#add(requestId, data ?? ''));
    session.on('Network.loadingFinished', ({ requestId }) => this.#end(requestId, true));
    session.on('Network.loadingFailed', ({ requestId }) => this.#end(requestId, false));
    session.on('close', () => {
      for (const requestId of [...this.#open.keys()]) this.#end(requestId, false);
    });
  }

  /** Copies a response whose body has not reached the page yet. Rejects where the browser cannot stream it. */
  async collect(requestId: string, copying: Copying): Promise<void> {
    this.#open.set(requestId, { ...copying, size: 0, last: Buffer.alloc(0) });
    await this.#session.send('Network.streamResourceContent', { requestId });
  }

  #add(requestId: string, data: string): void {
    const collected = this.#open.get(requestId);
    if (!collected || data === '') return;
    const bytes = Buffer.from(data, 'base64');
    const joined = Buffer.concat([collected.last, bytes]);
    collected.onBytes(joined);
    collected.last = joined.subarray(1 - NAME_BYTES);
    collected.size += bytes.length;
    if (collected.size > ARTIFACT_BYTES_MAX) this.#end(requestId, false);
    else collected.file?.append(bytes);
  }

  #end(requestId: string, isWhole: boolean): void {
    const collected = this.#open.get(requestId);
    this.#open.delete(requestId);
    collected?.onEnd(isWhole && collected.size > 0);
  }
}
