import { DeadlineError, withDeadline } from '@adsweep/shared/service/with-deadline.ts';
import { registrableDomain } from '@adsweep/shared/urls/registrable-domain.ts';
import type { BrowserContext, Frame, Page, Request, Route } from 'playwright-core';
import { COMMAND_MS } from '../devtools/devtools.ts';
import type { Entry } from '../session/journal-entry.ts';
import type { NetworkJournal } from '../session/network-journal.ts';
import type { OpenTabs } from '../session/open-tabs.ts';
import { isOfServer } from '../session/urls.ts';

/** What a form posts, and its media type. */
export type PostedForm = { body: Buffer; contentType: string };

/**
 * A page load that was stopped inside the browser: its URL, with its fragment, the `Referer` that it would have sent,
 * and the form that it posts, null: none. An app gets neither.
 */
export type StoppedLoad = { url: string; referrer: string; form: PostedForm | null };

/** Stopped loads that are remembered: a page may try endlessly. */
const STOPPED_MAX = 20;
/** A new tab that asks for what another one did this much later does so for another click: there is more time between two clicks. */
const REPEATED_AFTER_MS = 1_000;

/** Our answer to a request, in place of the network's; null: the request continues. */
export type OwnAnswer = (
  request: Request,
) => { status: number; contentType: string; headers: Record<string, string>; body: string } | null;

/**
 * Which page loads are stopped:
 * - `none`;
 * - `in_place`: a click-through in one of `frames`, which show the creative, so that it can be opened in a tab instead;
 * - `all`: those of the creative and of tabs that it opens, and with `stopsLandings` also those of the `landings` that
 * are open, whose
 *   windows the creative may name.
 */
type Stopping =
  | { loads: 'none' }
  | { loads: 'in_place'; frames: ReadonlySet<Frame> }
  | { loads: 'all'; landings: ReadonlySet<Page>; stopsLandings: boolean };

/**
 * The session that a creative is clicked in. `isOfPage`: whether the page that shows the creative starts a load in its own tab, and not the
 * creative; absent: it starts none.
 */
export type Clicking = {
  journal: Pick<NetworkJournal, 'hopsOf' | 'stopped' | 'unansweredDocument'>;
  tabs: Pick<OpenTabs, 'discard'>;
  isOfPage?: (load: Entry) => Promise<boolean>;
};

/** Decides about each request of a context before it leaves the browser: what we answer ourselves, and which page loads are stopped. */
export class PageLoads {
  /** Loads that were stopped since the last {@link follow} or {@link stopAll}. */
  stopped: StoppedLoad[] = [];
  readonly #page: Page;
  #isHeld = false;
  readonly #answer: OwnAnswer;
  #stopping: Stopping = { loads: 'none' };
  /** The forms that tabs of ours are about to post. */
  readonly #forms = new Map<Page, PostedForm>();
  #clicking: Clicking;
  /** Clicks since the session began. */
  #clicks = 0;
  /** When new tabs first asked for an address, without its query, in the session. */
  readonly #asked = new Map<string, number>();

  /** `page`: the one that hosts the creative. */
  constructor(page: Page, clicking: Clicking, answer: OwnAnswer) {
    this.#page = page;
    this.#clicking = clicking;
    this.#answer = answer;
  }

  /**
   * Starts to intercept the context's requests. Rejects when the browser is gone. A frame that spins is not waited for.
   */
  async start(context: BrowserContext): Promise<void> {
    const starting = context.route('**/*', (route) => this.#decide(route));
    // Playwright also rejects if another tab, such as one of the ad before, closes at that moment: all others are intercepted then.
    await inTime(starting).catch((error) => {
      if (this.#page.isClosed()) throw error;
    });
  }

  /** From now on, the page keeps its document, until the page is closed: navigations of its own are stopped. */
  async hold(): Promise<void> {
    this.#isHeld = true;
    await inTime(this.#page.route('**/*', (route) => this.#decide(route)));
  }

  /** From now on, the creative of another session is clicked. */
  serve(clicking: Clicking): void {
    this.#clicking = clicking;
    this.#clicks = 0;
    this.#asked.clear();
  }

  /** To be called before each click: from now on, click-throughs in these frames are stopped. */
  follow(frames: Iterable<Frame>): void {
    this.#clicks += 1;
    this.#stopping = { loads: 'in_place', frames: new Set(frames) };
    this.stopped = [];
  }

  /**
   * From now on, all page loads of the creative, of tabs that it opens and of the tabs that are open now are stopped.
   */
  stopAll(): void {
    const others = () =>
      this.#page
        .context()
        .pages()
        .filter((page) => page !== this.#page);
    const landings = this.#stopping.loads === 'all' ? this.#stopping.landings : new Set(others());
    this.#stopping = { loads: 'all', landings, stopsLandings: true };
    this.stopped = [];
  }

  /** Landings may navigate again; other page loads that were stopped stay so. */
  releaseLandings(): void {
    if (this.#stopping.loads === 'all') this.#stopping = { ...this.#stopping, stopsLandings: false };
  }

  /** Stops no more page loads. */
  allow(): void {
    this.#stopping = { loads: 'none' };
  }

  /**
   * A link was followed in a frame of the creative that no request shows, to an app or to a file of its own: where
   * loads are stopped, it is one of them.
   */
  notRequested(url: string): void {
    if (this.#stopping.loads !== 'none') this.#remember({ url, referrer: '', form: null });
  }

  /** The next page load of this tab posts a form. */
  post(page: Page, form: PostedForm): void {
    this.#forms.set(page, form);
  }

  async #decide(route: Route): Promise<void> {
    // A request whose tab closed needs no answer.
    await this.#handle(route, route.request()).catch(() => undefined);
  }

  async #handle(route: Route, request: Request): Promise<void> {
    const answer = this.#answer(request);
    if (answer) return route.fulfill(answer);
    if (request.resourceType() !== 'document') return route.continue();
    const { journal, tabs, isOfPage = async () => false } = this.#clicking;
    const known = journal.unansweredDocument(request.url());
    const posted = this.#formOf(request);
    if (posted) {
      if (known) known.method = 'POST';
      const headers = { ...request.headers(), 'content-type': posted.contentType };
      return route.continue({ method: 'POST', postData: posted.body, headers });
    }
    const isRepeated = known !== undefined && this.#isRepeated(request, known);
    const isStopped = this.#isStopped(request, known?.isFromOutside ?? false);
    const mayBeOfPage = known !== undefined && this.#isHeld && frameOf(request) === this.#page.mainFrame();
    const isHeldBack = this.#isHeldBack(request) || (mayBeOfPage && (await isOfPage(known)));
    if (!isRepeated && !isStopped && !isHeldBack) return route.continue();
    if (isRepeated && known.tab) tabs.discard(known.tab);
    const url = request.url() + (known?.fragment ?? '');
    const load = { url, referrer: request.headers().referer ?? '', form: postedForm(request) };
    journal.stopped(request.url());
    // With any other reason, Chromium replaces the page by an error page.
    await route.abort('aborted');
    if (!isStopped || isRepeated) return;
    // A page does not say which script began a load before that was stopped.
    if (!mayBeOfPage || !(await isOfPage(known))) this.#remember(load);
  }

  #remember(load: StoppedLoad): void {
    if (this.stopped.length < STOPPED_MAX) this.stopped.push(load);
  }

  #formOf(request: Request): PostedForm | null {
    const page = frameOf(request)?.page();
    const form = page && this.#forms.get(page);
    if (form) this.#forms.delete(page);
    return form ?? null;
  }

  /** A form that a click submits to the page may take its place: only so is it sent as it is, with its `Origin`. */
  #isHeldBack(request: Request): boolean {
    if (!this.#isHeld || frameOf(request) !== this.#page.mainFrame()) return false;
    return this.#stopping.loads !== 'in_place' || request.method() === 'GET';
  }

  /**
   * Whether a new tab asks for what another one did for an earlier click: that one seemed to lead nowhere because the creative took its time. What
   * several tabs of one click ask for, they ask for at once.
   */
  #isRepeated(request: Request, known: Entry): boolean {
    const { tab, hop, url } = known;
    if (this.#clicks === 0 || this.#stopping.loads === 'all' || !tab || !hop || frameOf(request)?.page() === this.#page)
      return false;
    const [first] = this.#clicking.journal.hopsOf(tab);
    const address = url.split(/[?#]/, 1)[0] as string;
    const askedAt = this.#asked.get(address);
    if (first !== known) return false;
    const now = performance.now();
    if (askedAt === undefined) this.#asked.set(address, now);
    return this.#clicks > 1 && askedAt !== undefined && now - askedAt > REPEATED_AFTER_MS;
  }

  /** Of a document request. `isFromOutside`: a document around the frame requested it, as a page does that shows its next ad in it. */
  #isStopped(request: Request, isFromOutside: boolean): boolean {
    const stopping = this.#stopping;
    if (stopping.loads === 'none') return false;
    const frame = frameOf(request);
    if (stopping.loads === 'all') {
      if (frame === null || !stopping.landings.has(frame.page())) return true;
      return stopping.stopsLandings && frame.parentFrame() === null;
    }
    if (frame === null || isFromOutside || !stopping.frames.has(frame)) return false;
    if (request.method() !== 'GET' && frame.parentFrame() === null) return false;
    return isClickThrough({ from: frame.url(), to: request.url() });
  }
}

/**
 * Resolves with the start of an interception, or after a while: frames that answer are intercepted at once, one that
 * spins never answers.
 */
async function inTime(starting: Promise<unknown>): Promise<void> {
  try {
    await withDeadline(starting, COMMAND_MS, 'the start of interception');
  } catch (error) {
    if (!(error instanceof DeadlineError)) throw error;
  }
}

/** The frame that makes a request; null: it is the first request of a new tab, or of a worker. */
export function frameOf(request: Request): Frame | null {
  try {
    return request.frame();
  } catch {
    return null;
  }
}

/** What a request posts; null: it posts nothing. */
function postedForm(request: Request): PostedForm | null {
  if (request.method() !== 'POST') return null;
  const contentType = request.headers()['content-type'] ?? 'application/x-www-form-urlencoded';
  // A form without fields has no body.
  return { body: request.postDataBuffer() ?? Buffer.alloc(0), contentType };
}

/** A page load that a frame requests: the frame's URL and the destination. */
export type Navigation = { from: string; to: string };

/**
 * Whether a page load in a frame that shows a creative, after a click on it, leads to a landing. A creative that loads
 * itself again does not, for example the next slide of a carousel at the same URL. Pure.
 */
export function isClickThrough({ from, to }: Navigation): boolean {
  if (!isOfServer(to)) return false;
  const [here, there] = [URL.parse(from), URL.parse(to)];
  if (!here || !there || !isOfServer(here.href)) return true;
  return registrableDomain(from) !== registrableDomain(to) || here.pathname !== there.pathname;
}
