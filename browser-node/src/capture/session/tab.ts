import type { HopKind } from '@adsweep/shared/capture/hop.ts';
import { COMMAND_MS, type DevTools, type EventPayload, type TargetSession } from '../devtools/devtools.ts';
import { QUIET_MS } from './budgets.ts';
import { clipUrl } from './urls.ts';

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

/** The state of one tab's own document: where it is, what it waits for, and where it will navigate. Times from `performance.now()`. */
export class Tab {
  readonly session: TargetSession;
  readonly openedAt = performance.now();
  url = '';
  openerUrl = '';
  /** When the present document had loaded, null = not yet. */
  loadedAt: number | null = null;
  lastHopAt = performance.now();
  /** The load of the last navigation, '' before the first. */
  lastLoaderId = '';
  /** When a navigation that the page announced, by a refresh or a timer, will come; 0 = none was announced. */
  refreshDueAt = 0;
  /** Whether a document of this tab ever came. */
  committed = false;
  /** It does not show a page, but Chromium's own error, or an answer of the gateway instead of the target's. */
  refused = false;
  /** We have disabled its scripts. */
  isScriptDisabled = false;
  /** Navigations that the page made by itself, not by an HTTP answer. */
  ownNavigations = 0;
  /** Those of them that came before their document had loaded, or as soon as it had. */
  promptNavigations = 0;
  #requested = new Map<string, Requested['reason']>();
  #started = new Map<string, Started['navigationType']>();

  constructor(session: TargetSession) {
    this.session = session;
  }

  /** How the navigation that is loaded as `loaderId` came about; `other` where nobody in the tab asked for it. */
  kindOf(url: string, loaderId: string, isFirst: boolean): HopKind {
    const type = this.#started.get(loaderId);
    const reason = this.#requested.get(withoutFragment(url));
    this.#requested.delete(withoutFragment(url));
    if (!isFirst) this.#countNavigation();
    if (type === 'historyDifferentDocument' || type === 'restore') return 'history';
    return (reason && KIND_OF_REASON[reason]) ?? 'other';
  }

  #countNavigation(): void {
    this.ownNavigations += 1;
    if (this.loadedAt === null || performance.now() - this.loadedAt < QUIET_MS) this.promptNavigations += 1;
  }

  /** Catches up with a tab that was navigating before it was watched. */
  async catchUp(): Promise<void> {
    const { result } = await this.session.send('Runtime.evaluate', {
      expression: "document.readyState + ' ' + document.URL",
    });
    const [state, url = ''] = String(result.value).split(' ');
    if (this.url !== '' || url === 'about:blank') return;
    this.url = clipUrl(url);
    this.committed = true;
    if (state === 'complete') this.loadedAt = performance.now();
  }

  /** Disables scripts in this tab's present and next documents. */
  disableScript(): void {
    this.isScriptDisabled = true;
    this.session.notify('Emulation.setScriptExecutionDisabled', { value: true });
  }

  /** Stops the running script and disables scripts, so that the tab can be inspected. Works on a page in an endless loop too. */
  async stopScript(): Promise<void> {
    this.disableScript();
    await this.session.send('Runtime.terminateExecution', undefined, COMMAND_MS).catch(() => undefined);
  }

  hopped(loaderId: string): void {
    this.lastLoaderId = loaderId;
    this.refused = false;
    this.lastHopAt = performance.now();
    this.refreshDueAt = 0;
  }

  /** The present document will navigate in so many ms. */
  announced(ms: number): void {
    this.refreshDueAt = Math.max(this.refreshDueAt, performance.now() + ms);
  }

  requested({ url, reason }: Requested): void {
    if (this.#requested.size < 1_000) this.#requested.set(withoutFragment(url), reason);
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
    this.committed ||= this.url !== 'about:blank';
    this.loadedAt = null;
  }

  /** What it asked for became a file. A tab that showed nothing before shows nothing now, and no load will be told of. */
  becameFile(): void {
    if (!this.committed) this.loadedAt ??= performance.now();
  }

  navigatedWithin({ url }: EventPayload<'Page.navigatedWithinDocument'>): void {
    this.url = clipUrl(url);
  }
}

/** Keeps the tabs of a context up to date, by their target ids. Tabs stay known after they are closed. */
export function watchTabs(devtools: DevTools): Map<string, Tab> {
  const tabs = new Map<string, Tab>();
  devtools.onAttached((session) => {
    if (session.type !== 'page') return;
    const tab = new Tab(session);
    tab.openerUrl = tabs.get(session.openerId)?.url ?? '';
    tabs.set(session.targetId, tab);
    // A tab that is gone or spins has nothing to catch up with.
    tab.catchUp().catch(() => undefined);
  });
  /** The tab, where the frame is its main one. */
  const own = (session: TargetSession, frameId: string) =>
    session.type === 'page' && frameId === session.targetId ? tabs.get(frameId) : undefined;
  devtools.on('Page.frameRequestedNavigation', (event, session) => own(session, event.frameId)?.requested(event));
  devtools.on('Page.frameStartedNavigating', (event, session) => own(session, event.frameId)?.started(event));
  devtools.on('Page.frameNavigated', (event, session) => own(session, event.frame.id)?.navigated(event));
  devtools.on('Page.navigatedWithinDocument', (event, session) => own(session, event.frameId)?.navigatedWithin(event));
  devtools.on('Page.downloadWillBegin', ({ frameId }, session) => own(session, frameId)?.becameFile());
  devtools.on('Page.loadEventFired', (_, session) => {
    const tab = tabs.get(session.targetId);
    if (tab) tab.loadedAt = performance.now();
  });
  devtools.on('Page.frameScheduledNavigation', ({ frameId, reason, delay }, session) => {
    const tab = own(session, frameId);
    if (tab && (reason === 'metaTagRefresh' || reason === 'httpHeaderRefresh')) tab.announced(delay * 1_000);
  });
  return tabs;
}

const withoutFragment = (url: string): string => clipUrl(url.split('#')[0] as string);
