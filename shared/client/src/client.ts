import createFetchClient from 'openapi-fetch';
import { AdsweepError } from './adsweep-error.ts';
import type { components, paths } from './generated/api.ts';
import { OPERATIONS } from './generated/operations.ts';
import type { Method, OperationId, Stream } from './methods.ts';
import type { Operation } from './operation.ts';
import { readEvents } from './read-events.ts';
import { type Patience, sendPatiently } from './send-patiently.ts';
import { type ScanState, type WaitOptions, waitForScan } from './wait-for-scan.ts';

// biome-ignore lint/performance/noBarrelFile: what the package exports
export { AdsweepError } from './adsweep-error.ts';
export type { OperationId } from './methods.ts';
export { verifyWebhook, type WebhookEvent } from './verify-webhook.ts';
export type { ScanState, WaitOptions } from './wait-for-scan.ts';

/** The bodies and answers of the API by their names in its OpenAPI document, such as `Schemas['Scan']`. */
export type Schemas = components['schemas'];

/** Where the API is, and how it is called. */
export type ClientOptions = {
  /** The base URL of the API, such as `https://adsweep.example`. */
  url: string;
  /** An API key, or a function that returns an OAuth access token whenever one is needed. */
  key: string | (() => string | Promise<string>);
} & Partial<Patience>;

/** A method for each operation of the API, by its operationId, and what needs more than one request. */
export type Client = { [Id in Exclude<OperationId, 'getScanEvents'>]: Method<Id> } & {
  getScanEvents: Stream<'getScanEvents', ScanState>;
  scans: {
    /** Resolves to a scan when it has ended: `completed`, `partial`, `failed` or `cancelled`. */
    wait(id: string, options?: WaitOptions): Promise<Schemas['Scan']>;
  };
};

/** A client of the API. It sends nothing until one of its methods is called. */
export function adsweep({
  url,
  key,
  fetch = globalThis.fetch,
  retries = 4,
  timeoutMs = 120_000,
}: ClientOptions): Client {
  const patience = { fetch, retries, timeoutMs };
  const http = createFetchClient<paths>({
    baseUrl: url.replace(/\/+$/, ''),
    // The API does not redirect. What does, would get a POST as a GET, and another host nothing of the key.
    redirect: 'manual',
    fetch: (request) => sendPatiently(request, patience),
  });
  const request: Send = async (name, parseAs, sent) => {
    const { method, path, keyed, answer } = OPERATIONS[name];
    const { ids, query, body, signal, idempotencyKey = newKey() } = readSent(name, sent);
    const headers = {
      Authorization: `Bearer ${usable(typeof key === 'function' ? await key() : key)}`,
      ...(answer === 'events' && { Accept: 'text/event-stream' }),
      ...(keyed && { 'Idempotency-Key': idempotencyKey }),
    };
    const init = { params: { path: ids, query }, body, headers, parseAs, signal };
    const isForeign = (cause?: unknown) => new Error(`${name}: ${url} does not answer as the API does`, { cause });
    const { data, error, response } = await http
      .request(method.toLowerCase() as 'get', path as never, init as never)
      .catch((problem: unknown) => {
        throw problem instanceof SyntaxError ? isForeign(problem) : problem;
      });
    if (!(response as Response).ok) throw new AdsweepError(name, response, error);
    if (data === undefined && (answer === 'json' || answer === 'events')) throw isForeign();
    return data;
  };
  const names = Object.keys(OPERATIONS) as OperationId[];
  const methods = Object.fromEntries(names.map((name) => [name, methodOf(name, request)])) as unknown as Client;
  return { ...methods, scans: { wait: (id, options) => waitForScan(methods, id, options) } };
}

type Send = (name: OperationId, parseAs: 'json' | 'text' | 'blob' | 'stream', sent: unknown[]) => Promise<unknown>;

function methodOf(name: OperationId, request: Send): unknown {
  const { answer, query }: Operation = OPERATIONS[name];
  if (answer === 'events')
    return async function* (...sent: unknown[]) {
      const { signal } = readSent(name, sent);
      yield* readEvents((await request(name, 'stream', sent)) as ReadableStream<Uint8Array<ArrayBuffer>>, signal);
    };
  const call = (...sent: unknown[]) => request(name, answer === 'nothing' ? 'text' : answer, sent);
  return query.includes('page') ? Object.assign(call, { each: eachItem(name, call) }) : call;
}

type Page = {
  items: unknown[];
  total: number;
  page: number;
  limit: number;
  pages: number;
  next_cursor?: string | null;
};

/**
 * Reads a list page by page: by cursors where it has them, because these miss and repeat nothing while rows are added. Of other lists, rows that were
 * on a page before are passed over: what was added since has moved them to a later one. Where there are fewer rows than before, earlier pages are read
 * again first: what was taken out, such as deleted by the reader, has moved others to them.
 */
function eachItem(name: OperationId, call: (...sent: unknown[]) => Promise<unknown>) {
  return async function* (...sent: unknown[]) {
    const ids = sent.slice(0, idNames(name).length);
    const [query = {}, options] = sent.slice(ids.length) as [{ page?: number }?, unknown?];
    let next: object | null = query;
    const seen = new Set<unknown>();
    let total = 0;
    while (next !== null) {
      const page = (await call(...ids, next, options)) as Page;
      const removed = seen.size > 0 ? Math.max(0, total - page.total) : 0;
      const from = Math.max(query.page ?? 1, page.page - Math.ceil(removed / page.limit));
      total = page.total;
      if (from < page.page) {
        next = { ...query, page: from };
        continue;
      }
      for (const item of page.items) {
        const { id } = item as { id?: unknown };
        if (id === undefined || page.next_cursor !== undefined || !seen.has(id)) yield item;
        if (page.next_cursor === undefined) seen.add(id);
      }
      next = queryAfter(page, query);
    }
  };
}

function queryAfter(page: Page, { page: _, ...query }: { page?: number }): object | null {
  if (page.next_cursor !== undefined) return page.next_cursor === null ? null : { ...query, cursor: page.next_cursor };
  return page.page < page.pages ? { ...query, page: page.page + 1 } : null;
}

const idNames = (name: OperationId): string[] =>
  [...OPERATIONS[name].path.matchAll(/\{(\w+)\}/g)].map(([, id]) => id as string);

type SentOptions = { body?: unknown; query?: object | undefined; signal?: AbortSignal; idempotencyKey?: string };

/** The arguments of a method by what they are; see `Method`. Throws a `TypeError` for an id that is missing or `.` or `..`. */
function readSent(name: OperationId, sent: unknown[]) {
  const names = idNames(name);
  const ids = Object.fromEntries(names.map((id, at) => [id, sent[at]]));
  const missing = names.find((id) => ids[id] === undefined || ids[id] === null || ids[id] === '');
  if (missing) throw new TypeError(`${name}: ${missing} is missing`);
  // A URL with them has another path, which may be another operation.
  const isStep = names.find((id) => ['.', '..'].includes(String(ids[id])));
  if (isStep) throw new TypeError(`${name}: ${isStep} cannot be ${ids[isStep]}`);
  const [input, options = {}] = sent.slice(names.length) as [unknown, SentOptions?];
  const { body: hasBody } = OPERATIONS[name];
  return { ids, ...options, ...(hasBody ? { body: input } : { query: input as object | undefined }) };
}

/** The key as a header takes it: what `fetch` says of one that it does not take repeats the key. */
function usable(key: string): string {
  const trimmed = key.trim();
  if (!/^[\x21-\x7e]*$/.test(trimmed)) throw new TypeError('the key has characters that no key has');
  return trimmed;
}

/** Not `crypto.randomUUID`, which browsers have on https pages only. */
const newKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
