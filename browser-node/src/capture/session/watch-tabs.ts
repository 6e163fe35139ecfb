import { staysEmpty } from '../../browser/empty-windows.ts';
import type { DevTools, TargetSession } from '../devtools/devtools.ts';
import { Tab } from './tab.ts';

/** The lifecycle event of a document that shows a text or an image for the first time. */
export const FIRST_PAINT = 'firstContentfulPaint';

/** Tracks the tabs of a context by target id. Tabs stay in the map after they are closed. */
export function watchTabs(devtools: DevTools): Map<string, Tab> {
  const tabs = new Map<string, Tab>();
  /** Windows that are about to open and stay empty. */
  let emptyWindows = 0;
  devtools.on('Page.windowOpen', ({ url }) => {
    if (staysEmpty(url)) emptyWindows += 1;
  });
  devtools.onAttached((session) => {
    if (session.type !== 'page') return;
    const tab = new Tab(session);
    tab.openerUrl = tabs.get(session.openerId)?.url ?? '';
    tabs.set(session.targetId, tab);
    if (emptyWindows > 0) {
      emptyWindows -= 1;
      tab.endedEmpty('');
    }
    // A tab that was closed, or is too busy to answer, keeps its initial state.
    tab.catchUp().catch(() => undefined);
  });
  /** The tab, if the frame is its main frame. */
  const own = (session: TargetSession, frameId: string) =>
    session.type === 'page' && frameId === session.targetId ? tabs.get(frameId) : undefined;
  devtools.on('Page.frameRequestedNavigation', (event, session) => own(session, event.frameId)?.requested(event));
  devtools.on('Page.frameStartedNavigating', (event, session) => own(session, event.frameId)?.started(event));
  devtools.on('Page.frameNavigated', (event, session) => own(session, event.frame.id)?.navigated(event));
  devtools.on('Page.documentOpened', ({ frame }, session) => own(session, frame.id)?.wasWritten(frame.url));
  devtools.on('Page.navigatedWithinDocument', (event, session) => own(session, event.frameId)?.navigatedWithin(event));
  devtools.on('Page.downloadWillBegin', ({ frameId }, session) => own(session, frameId)?.becameDownload());
  devtools.on('Network.loadingFailed', ({ requestId, errorText }, session) => {
    const tab = tabs.get(session.targetId);
    if (tab?.lastLoaderId === requestId && errorText === 'net::ERR_ABORTED') tab.endedEmpty(requestId);
  });
  devtools.on('Page.lifecycleEvent', ({ frameId, name }, session) => {
    const tab = name === FIRST_PAINT ? own(session, frameId) : undefined;
    if (tab) tab.paintedAt = performance.now();
  });
  devtools.on('Page.domContentEventFired', (_, session) => {
    const tab = tabs.get(session.targetId);
    if (tab) tab.parsedAt = performance.now();
  });
  devtools.on('Page.loadEventFired', (_, session) => tabs.get(session.targetId)?.loaded());
  devtools.on('Page.frameStoppedLoading', ({ frameId }, session) => own(session, frameId)?.stoppedLoading());
  devtools.on('Page.frameScheduledNavigation', ({ frameId, reason, delay, url }, session) => {
    const tab = own(session, frameId);
    if (!tab || (reason !== 'metaTagRefresh' && reason !== 'httpHeaderRefresh')) return;
    tab.announced(delay * 1_000);
    // One to an app is cancelled before it is requested.
    tab.requested({ url, reason });
  });
  return tabs;
}
