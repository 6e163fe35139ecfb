import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { PAGE_LIMIT_MAX } from '@adsweep/shared/limits.ts';
import { ApiError } from '../../http/api-error.ts';
import type { ApiInProcess } from '../../http/call-routes.ts';
import type { Answer } from '../../http/route.ts';
import type { PageRequest } from '../../http/serve-console.ts';
import type { Listed } from './schemas.ts';

/** A call of the API that a page made. */
export type MadeCall = { method: Method; path: string; body?: unknown };
type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** A path of the API: what is inserted is one segment each. */
export const at = (fixed: TemplateStringsArray, ...inserted: (string | number)[]): string =>
  `/api/v1${fixed.reduce((text, part, index) => text + encodeURIComponent(String(inserted[index - 1])) + part)}`;

/** The parameters of a query; empty ones are left out. */
export type Query = URLSearchParams | Record<string, string | number | boolean | null | undefined>;

/** A path with a query. */
export function withQuery(path: string, query: Query = {}): string {
  const pairs = query instanceof URLSearchParams ? [...query] : Object.entries(query);
  const given = pairs.filter(([, value]) => value !== undefined && value !== null && value !== '');
  const text = new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)])).toString();
  return text === '' ? path : `${path}?${text}`;
}

/** Characters of a call that is shown on its page, as JSON; a longer one is no example. */
const SHOWN_MAX = 8_000;

/** A list has fewer pages than the one that was asked for, such as after its last rows were deleted. */
export class BeyondLastPage extends Error {
  readonly last: number;

  constructor(last: number) {
    super('The list has fewer pages.');
    this.last = last;
  }
}

/** Throws {@link BeyondLastPage} for a page of a list that has others: an empty one would look like an empty list. */
function withinList<T>(answer: T): T {
  const { items, page = 1, pages = 0 } = answer as Partial<Listed<unknown>>;
  if (items?.length === 0 && pages > 0 && page > pages) throw new BeyondLastPage(pages);
  return answer;
}

export type ConsoleApi = ReturnType<typeof consoleApi>;

/** How often, and how many times, a call is made again while the same form, sent before, is still being answered. */
const AGAIN_EVERY_MS = 250;
const AGAIN_MAX = 80;

/**
 * The public API with the credential of the person who is signed in, in process. Refusals are thrown as `ApiError`.
 * `calls`: what a page asked, to be shown as calls of the API. `reading`: the credential for what is only read, which
 * the rate limit need not count. `formId`: what distinguishes the form that was sent, as it was loaded, from all
 * others; '': there is none. A form that a browser sends again, such as when a page that did not arrive is reloaded,
 * creates nothing twice.
 */
export function consoleApi(
  { call }: Pick<ApiInProcess, 'call'>,
  {
    credential,
    reading = credential,
    formId = () => '',
  }: { credential: string; reading?: string; formId?: () => string },
  { stream, headers }: PageRequest,
) {
  const calls: MadeCall[] = [];
  const shown = new Set<string>();
  let created = 0;
  let isRepeated = false;

  /** One form may make several calls, also equal ones. What it says may have been changed since it was sent before. */
  const onceOnly = (text: string): Record<string, string> => {
    if (formId() === '') return {};
    const key = createHash('sha256').update(`${formId()}\n${created++}\n${text}`).digest('base64url');
    return { 'idempotency-key': key };
  };

  const answerOf = async (sent: Parameters<typeof call>[0]): Promise<Answer> => {
    for (let left = AGAIN_MAX; ; left--)
      try {
        return await call(sent);
      } catch (error) {
        if (!(error instanceof ApiError) || error.code !== 'idempotency.in_progress' || left === 0) throw error;
        await sleep(AGAIN_EVERY_MS);
      }
  };

  const send = async <T>(method: Method, path: string, body?: unknown): Promise<T> => {
    const made: MadeCall = { method, path, ...(body !== undefined && { body }) };
    const text = JSON.stringify(made);
    if (text.length <= SHOWN_MAX && !shown.has(text)) calls.push(made);
    if (text.length <= SHOWN_MAX) shown.add(text);
    const sent = { method, path, body, credential: method === 'GET' ? reading : credential, stream };
    const answer = await answerOf(method === 'POST' ? { ...sent, headers: onceOnly(text) } : sent);
    isRepeated ||= answer.headers?.['Idempotency-Replayed'] !== undefined;
    return answer.body as T;
  };
  const ask = async <T>(path: string): Promise<T> =>
    (await call({ method: 'GET', path, credential: reading, stream })).body as T;
  return {
    calls,

    /** Whether the form was sent before: what it asked for was done then. */
    wasRepeated: (): boolean => isRepeated,

    /** Reads something for the page. Throws {@link BeyondLastPage} for a page of a list beyond its last one. */
    get: async <T>(path: string, query: Query = {}): Promise<T> =>
      withinList(await send<T>('GET', withQuery(path, query))),

    send,

    /** Asks without showing it as a call of the page: what the frame needs itself. */
    ask,

    /**
     * The items of a list that match `filters`, page after page up to one that is enough, and whether there are more.
     * They are not shown as calls of the page.
     */
    async askPages<T>(
      path: string,
      isEnough: (items: T[], read: number) => boolean,
      filters: Record<string, string> = {},
    ): Promise<{ items: T[]; hasMore: boolean }> {
      const items: T[] = [];
      for (let page = 1; ; page++) {
        const found = await ask<Listed<T>>(withQuery(path, { ...filters, page, limit: PAGE_LIMIT_MAX }));
        items.push(...found.items);
        const hasMore = page < found.pages;
        if (!hasMore || isEnough(found.items, items.length)) return { items, hasMore };
      }
    },

    /** A file or an event stream, as the API sends it. */
    file: (path: string): Promise<Answer> => call({ method: 'GET', path, credential: reading, headers, stream }),
  };
}
