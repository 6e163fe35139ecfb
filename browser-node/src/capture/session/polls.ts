import type { Entry } from './journal-entry.ts';

/**
 * The kinds of requests that pages repeat for as long as they are open, to ask for news or to report what is visible.
 */
const POLLING_KINDS = new Set(['xhr', 'fetch', 'ping', 'preflight', 'eventsource', 'websocket']);
/** A request of these kinds is polling if as many before it had its method and URL, apart from the query. */
const POLLS_AFTER = 3;
/** URLs whose requests are counted for that; more belong to a page that requests much, but not the same. */
const POLLED_MAX = 500;

/** Which requests of a context are polling: those that a page makes again and again. */
export class Polls {
  /** How many requests had a method and URL. */
  readonly #asked = new Map<string, number>();

  /** Counts a request; returns whether it is polling. */
  add({ resourceType, method, url }: Pick<Entry, 'resourceType' | 'method' | 'url'>): boolean {
    if (!POLLING_KINDS.has(resourceType)) return false;
    const key = `${method} ${url.split(/[?#]/, 1)[0]}`;
    const before = this.#asked.get(key) ?? 0;
    if (before > 0 || this.#asked.size < POLLED_MAX) this.#asked.set(key, before + 1);
    return before >= POLLS_AFTER;
  }
}
