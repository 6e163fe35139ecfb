import type { HopKind } from '@adsweep/shared/capture/hop.ts';
import { COMMAND_MS, disableScripts, type EventPayload, type TargetSession } from '../devtools/devtools.ts';
import { evaluateInIsolatedWorld } from '../devtools/isolated-world.ts';
import type { TimerSubject } from '../page-scripts/watch-timers.ts';
import { QUIET_MS } from './budgets.ts';
import { clipUrl, withoutFragment } from './urls.ts';

type Requested = EventPayload<'Page.frameRequestedNavigation'>;
type Started = EventPayload<'Page.frameStartedNavigating'>;

const KIND_OF_REASON: Partial<Record<Requested['reason'], HopKind>> = {
  metaTagRefresh: 'meta_refresh',
  httpHeaderRefresh: 'refresh_header',
  scriptInitiated: 'script',
  reload: 'script',
  formSubmissionGet: 'form',
  formSubmissionPost: 'form',
  anchorClick: 'anchor',
};

/** Apps that are recorded of one document. */
const APPS_MAX = 5;

/** What the URL of Chromium's error pages starts with. */
const ERROR_PAGE = 'chrome-error:';

/** The state of a tab's own document: its URL, its load and its navigations. Times from `performance.now()`. */
export class Tab {
  readonly session: TargetSession;
  readonly openedAt = performance.now();
  url = '';
  /**
   * The URL that its document was loaded from, '' before the first; what scripts do to the history of that document
   * leaves it as it is.
   */
  documentUrl = '';
  /** The id of the document that it shows, '' before the first. */
  documentId = '';
  openerUrl = '';
  /** When the current document had loaded, null: not yet. */
  loadedAt: number | null = null;
  /** When it had been parsed, null: not yet. */
  parsedAt: number | null = null;
  /** When it first showed a text or an image, null: not yet. */
  paintedAt: number | null = null;
  lastHopAt = performance.now();
  /** The loader id of the last navigation, '' before the first. */
  lastLoaderId = '';
  /** How many hops were recorded of it, those to apps included. */
  hops = 0;
  /** When a navigation that the page announced, by a refresh or a timer, is due; 0 = none was announced. */
  refreshDueAt = 0;
  /** When the last timer is due that a script of the current document waits for; 0 = none is known. */
  timersDueAt = 0;
  /** Whether timers of frames of other origins count too: they show a creative. */
  hostsCreative = false;
  /** Whether the current document has been looked at as a visitor does; `isLookedAt`: it is being looked at. */
  wasLookedAt = false;
  isLookedAt = false;
  /** How many of its documents were looked at. */
  looks = 0;
  /** Whether the tab ever committed a document. */
  committed = false;
  /** It shows an error page of Chromium, or the gateway's answer instead of the target's. */
  refused = false;
  /**
   * From when on all of its page loads are stopped inside the browser, by Unix time in ms: from the beginning if it
   * opened after tabs were refused.
   */
  loadsNothingFromMs = Number.POSITIVE_INFINITY;
  /** Whether we have disabled its scripts. */
  isScriptDisabled = false;
  /** Navigations that the page started itself, in contrast to HTTP redirects. */
  ownNavigations = 0;
  /** Those among them that started before their document had loaded, or as soon as it had. */
  promptNavigations = 0;
  /** The URLs of apps that the current document opened. */
  readonly #apps = new Set<string>();
  #requested = new Map<string, Requested['reason']>();
  #started = new Map<string, Started['navigationType']>();

  constructor(session: TargetSession) {
    this.session = session;
  }

  /** Whether it is empty and was never sent anywhere. */
  get isUnused(): boolean {
    return this.hops === 0 && !this.committed;
  }

  /**
   * Whether it shows another document than the one at `url` now. A page that changes its URL by the history API shows
   * the same one.
   */
  hasLeft(url: string): boolean {
    return this.committed && this.documentUrl !== '' && withoutFragment(this.documentUrl) !== withoutFragment(url);
  }

  /** What started the navigation with this loader id; `other`: nothing in the tab did. */
  kindOf(url: string, loaderId: string, isFirst: boolean): HopKind {
    const type = this.#started.get(loaderId);
    const reason = this.#requested.get(navigationKey(url));
    this.#requested.delete(navigationKey(url));
    if (!isFirst) this.#countNavigation();
    if (type === 'historyDifferentDocument' || type === 'restore') return 'history';
    return (reason && KIND_OF_REASON[reason]) ?? 'other';
  }

  #countNavigation(): void {
    this.ownNavigations += 1;
    if (this.loadedAt === null || performance.now() - this.loadedAt < QUIET_MS) this.promptNavigations += 1;
  }

  /** Reads the state of a tab that began to navigate before it was watched. */
  async catchUp(): Promise<void> {
    const { session } = this;
    const shown = await evaluateInIsolatedWorld(session, session.targetId, readState, null, COMMAND_MS);
    const [state, url = ''] = String(shown).split(' ');
    if (this.url !== '' || url === 'about:blank') return;
    if (url.startsWith(ERROR_PAGE)) {
      this.refused = true;
      return;
    }
    this.url = clipUrl(url);
    this.documentUrl = this.url;
    this.committed = true;
    if (state !== 'loading') this.parsedAt = performance.now();
    if (state === 'complete') this.loadedAt = performance.now();
  }

  /** Disables scripts in the tab's current and next documents. */
  disableScript(): void {
    this.isScriptDisabled = true;
    this.session.notify('Emulation.setScriptExecutionDisabled', { value: true });
  }

  /**
   * Stops the running script and disables scripts, so that the tab can be inspected. Works on a page in an endless loop
   * too.
   */
  async stopScript(): Promise<void> {
    this.isScriptDisabled = true;
    await disableScripts(this.session);
  }

  hopped(loaderId: string): void {
    this.lastLoaderId = loaderId;
    this.hops += 1;
    this.refused = false;
    this.lastHopAt = performance.now();
    this.refreshDueAt = 0;
    this.timersDueAt = 0;
  }

  /**
   * Its document opened an app, and stays where it is. Returns how: by a script, unless a refresh announced it; null:
   * it did before, or tries too many.
   */
  openedApp(url: string): HopKind | null {
    if (this.#apps.has(url) || this.#apps.size >= APPS_MAX) return null;
    this.#apps.add(url);
    this.hops += 1;
    const reason = this.#requested.get(navigationKey(url));
    return (reason && KIND_OF_REASON[reason]) ?? 'script';
  }

  /** The current document announced that it will navigate in `ms`. */
  announced(ms: number): void {
    this.refreshDueAt = Math.max(this.refreshDueAt, performance.now() + ms);
  }

  /** A document of the tab waits for a timer. */
  timer(subject: TimerSubject, ms: number): void {
    if (subject === 'navigates') this.announced(ms);
    if (subject === 'pending' || (subject === 'pending_in_frame' && this.hostsCreative))
      this.timersDueAt = performance.now() + ms;
  }

  requested({ url, reason }: Pick<Requested, 'url' | 'reason'>): void {
    if (this.#requested.size < 1_000) this.#requested.set(navigationKey(url), reason);
  }

  started({ loaderId, navigationType }: Started): void {
    if (this.#started.size < 1_000) this.#started.set(loaderId, navigationType);
  }

  navigated({ frame }: EventPayload<'Page.frameNavigated'>): void {
    if (frame.unreachableUrl) {
      this.refused = true;
      return;
    }
    this.url = clipUrl(frame.url + (frame.urlFragment ?? ''));
    this.documentUrl = this.url;
    this.documentId = frame.loaderId;
    this.committed ||= this.url !== 'about:blank';
    this.loadedAt = null;
    this.parsedAt = null;
    this.paintedAt = null;
    this.#apps.clear();
    this.wasLookedAt = false;
  }

  /**
   * To be called when a navigation ended without a document: its server answered 204, or it led to an app. `loaderId`:
   * the id of that navigation; '': the tab has made none, because its window keeps the document that it opened with. A
   * tab that never had a document gets an empty one, unless it navigates (again) soon, or a script has written the one
   * that it opened with. Without a document, Playwright does not report the tab, and the tab does not count as loaded.
   */
  endedEmpty(loaderId: string): void {
    const fill = () => {
      if (this.documentId !== '' || this.committed || this.lastLoaderId !== loaderId) return;
      if (loaderId === '' && this.parsedAt !== null) return;
      this.session.notify('Page.navigate', { url: 'about:blank' });
    };
    setTimeout(fill, QUIET_MS).unref();
  }

  loaded(): void {
    // Until then, many of its listeners were not there.
    if (this.loadedAt === null) this.wasLookedAt = false;
    this.loadedAt = performance.now();
  }

  /** The document loads nothing any more. If no load event came before, none will: the page called `window.stop`. */
  stoppedLoading(): void {
    if (this.committed && this.loadedAt === null) this.loaded();
  }

  /**
   * Another document wrote into the one that the tab shows, which then has this URL (HTML standard, "document open
   * steps").
   */
  wasWritten(url: string): void {
    this.url = clipUrl(url || 'about:blank');
    this.committed = true;
    // No load event comes for what is written into a document without `document.open`, or is never closed.
    this.loadedAt ??= performance.now();
  }

  /** The navigation became a download. A tab that showed nothing before still does, and no load event will come. */
  becameDownload(): void {
    if (!this.committed) this.loadedAt ??= performance.now();
  }

  navigatedWithin({ url }: EventPayload<'Page.navigatedWithinDocument'>): void {
    this.url = clipUrl(url);
  }
}

/** Runs in the page, in an isolated world: elements of the page shadow properties of its document. */
const readState = (): string =>
  `${Reflect.get(Document.prototype, 'readyState', document)} ${Reflect.get(Document.prototype, 'URL', document)}`;

/** What a navigation is found by again: its URL without the fragment, as long as captures keep it. */
const navigationKey = (url: string): string => clipUrl(withoutFragment(url));
