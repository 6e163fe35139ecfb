import type { Entry, ResponseHead } from './journal-entry.ts';
import { Polls } from './polls.ts';

/**
 * A request that has not ended. `seen`: the time of the event that reported it; `extraInfo`: status and headers from
 * responseReceivedExtraInfo.
 */
type PendingRequest = { entry: Entry; startedAt: number; seen: number; isPoll: boolean; extraInfo?: ResponseHead };

/** The kinds without which a page does not do all that it will. */
const CODE_KINDS = new Set(['document', 'script', 'stylesheet']);

/**
 * Whether the pages of a context still load: their requests that have not ended, and when they last requested
 * something.
 */
export class PendingRequests {
  readonly #byId = new Map<string, PendingRequest>();
  readonly #polls = new Polls();
  /** How many requests have ended, with or without an error. */
  ended = 0;
  lastActivityAt = performance.now();
  /** The same without requests that are polling. */
  lastLoadingAt = performance.now();

  /** A request by CDP's id; undefined: it has ended, or was not recorded. */
  get(requestId: string): PendingRequest | undefined {
    return this.#byId.get(requestId);
  }

  /** Adds a request that was sent, or the one that the request with this id redirects to. */
  start(requestId: string, entry: Entry, seen: number): void {
    const isPoll = this.noteRequest(entry);
    this.#byId.set(requestId, { entry, startedAt: this.lastActivityAt, seen, isPoll });
  }

  /** Removes a request that has ended; returns it, undefined: it was not pending. */
  end(requestId: string): PendingRequest | undefined {
    const request = this.#byId.get(requestId);
    if (!request) return undefined;
    this.#byId.delete(requestId);
    this.ended += 1;
    this.#noteActivity(request.isPoll);
    return request;
  }

  /**
   * Notes a request that is never pending, as of a socket, which stays open as long as its page; whether it is polling.
   */
  noteRequest(entry: Entry): boolean {
    const isPoll = this.#polls.add(entry);
    this.#noteActivity(isPoll);
    return isPoll;
  }

  /** Notes that a page started a worker: it has not settled, whatever the origin of the worker's script. */
  noteWorker(): void {
    this.#noteActivity(false);
  }

  /** How many requests younger than `ms` are pending, those that are polling included if `countsPolls`. */
  count(ms = Number.POSITIVE_INFINITY, countsPolls = true): number {
    const since = performance.now() - ms;
    let count = 0;
    for (const { startedAt, isPoll } of this.#byId.values())
      if (startedAt > since && (countsPolls || !isPoll)) count += 1;
    return count;
  }

  /** How many requests younger than `ms` have no response yet. */
  unanswered(ms: number): number {
    const since = performance.now() - ms;
    let count = 0;
    for (const { startedAt, entry } of this.#byId.values()) if (startedAt > since && entry.statusCode === 0) count += 1;
    return count;
  }

  /** Whether a document, script or style sheet is pending, for however long. */
  get awaitsCode(): boolean {
    return this.#byId.values().some(({ entry }) => CODE_KINDS.has(entry.resourceType));
  }

  #noteActivity(isPoll: boolean): void {
    this.lastActivityAt = performance.now();
    if (!isPoll) this.lastLoadingAt = this.lastActivityAt;
  }
}
