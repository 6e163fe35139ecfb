import { registrableDomain } from '@adsweep/shared/urls/registrable-domain.ts';
import type { BrowserContext, Frame, Page, Request, Route } from 'playwright-core';
import type { NetworkJournal } from '../session/network-journal.ts';

/** A page load that was stopped inside the browser: its address and the `Referer` that it would have sent. */
export type StoppedLoad = { url: string; referrer: string };

/** Stopped loads that are remembered: a page may try endlessly. */
const STOPPED_MAX = 20;

/** An answer of ours to a request, in place of the network's; null: the request goes on. */
export type OwnAnswer = (
  request: Request,
) => { status: number; contentType: string; headers: Record<string, string>; body: string } | null;

/**
 * Decides about each request of a context before it leaves the browser: what we answer ourselves, and which page loads are stopped.
 * While a click is followed, a load that would take the place of the creative is stopped, so that it can be opened in a tab instead and
 * the creative stays. While a creative is checked, every page load of it, of the tabs that it opens, and of landings whose window it names is
 * stopped: none reaches the network.
 */
export class PageLoads {
  /** Loads that were stopped since the last `follow` or `stopAll`. */
  stopped: StoppedLoad[] = [];
  readonly #page: Page;
  readonly #journal: NetworkJournal;
  readonly #answer: OwnAnswer;
  /** Frames whose place nothing may take while a click is followed. */
  #kept: ReadonlySet<Frame> = new Set();
  /** While a creative is checked, the tabs that are not its own; null: nothing is checked. */
  #landed: ReadonlySet<Page> | null = null;
  /** Whether those may be led nowhere either. */
  #keepsLandings = false;

  constructor(page: Page, journal: NetworkJournal, answer: OwnAnswer) {
    this.#page = page;
    this.#journal = journal;
    this.#answer = answer;
  }

  /** Starts to intercept the context's requests. Rejects when the browser is gone. */
  async start(context: BrowserContext): Promise<void> {
    await context.route('**/*', (route) => this.#decide(route));
  }

  /** From now on, what would load in the place of these frames is stopped. */
  follow(frames: Iterable<Frame>): void {
    this.#kept = new Set(frames);
    this.stopped = [];
  }

  /** From now on, every page load of the creative, of what it opens and of the landings' own tabs is stopped. */
  stopAll(): void {
    this.#landed ??= new Set(
      this.#page
        .context()
        .pages()
        .filter((page) => page !== this.#page),
    );
    this.#keepsLandings = true;
    this.stopped = [];
  }

  /** Landings may be led on again; what was stopped besides stays so. */
  releaseLandings(): void {
    this.#keepsLandings = false;
  }

  /** Stops no more page loads. */
  allow(): void {
    this.#kept = new Set();
    this.#landed = null;
  }

  async #decide(route: Route): Promise<void> {
    const request = route.request();
    // A request that is gone with its tab needs no answer.
    await this.#settle(route, request).catch(() => undefined);
  }

  async #settle(route: Route, request: Request): Promise<void> {
    const answer = this.#answer(request);
    if (answer) return route.fulfill(answer);
    if (!this.#isStopped(request)) return route.continue();
    if (this.stopped.length < STOPPED_MAX)
      this.stopped.push({ url: request.url(), referrer: request.headers().referer ?? '' });
    this.#journal.stopped(request.url());
    // With any other reason the page would be replaced by one that shows an error.
    return route.abort('aborted');
  }

  #isStopped(request: Request): boolean {
    if (request.resourceType() !== 'document') return false;
    const frame = frameOf(request);
    if (this.#landed) {
      if (frame === null || !this.#landed.has(frame.page())) return true;
      return this.#keepsLandings && frame.parentFrame() === null;
    }
    if (frame === null || !this.#kept.has(frame)) return false;
    return isClickThrough({ from: frame.url(), to: request.url(), method: request.method() });
  }
}

/** The frame that a request is made for; null where it is the first of a new tab, or of a worker. */
export function frameOf(request: Request): Frame | null {
  try {
    return request.frame();
  } catch {
    return null;
  }
}

/** A page load that a frame requests: the frame's URL, the destination and the method. */
export type Navigation = { from: string; to: string; method: string };

/**
 * Whether a page load in a frame that shows a creative, after a click on it, leads to a landing. A creative that loads itself again, such
 * as the next slide of a carousel at the same address, does not; nor can a form that was sent be sent again in another tab. Pure.
 */
export function isClickThrough({ from, to, method }: Navigation): boolean {
  if (method !== 'GET' || !/^https?:/i.test(to)) return false;
  const [here, there] = [URL.parse(from), URL.parse(to)];
  if (!here || !there || !/^https?:$/.test(here.protocol)) return true;
  return registrableDomain(from) !== registrableDomain(to) || here.pathname !== there.pathname;
}
