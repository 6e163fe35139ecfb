import type { CapturedHop } from '@adsweep/shared/capture/hop.ts';
import { HOPS_MAX } from '../session/budgets.ts';
import type { MemberCapture } from '../session/capture-session.ts';
import type { Entry } from '../session/journal-entry.ts';
import { isOfApp, isOfServer } from '../session/urls.ts';
import type { Collector } from './collector.ts';
import { creativeDocuments } from './request-attribution.ts';

/** The redirect chain of each landing, and of the document that shows the creative. */
export const redirectChain: Collector = {
  name: 'redirect_chain',
  start(capture) {
    watchUnrequested(capture);
    return (draft, { creative }) => {
      for (const landing of draft.landings) {
        const tab = capture.landings.all.find(({ ord }) => ord === landing.ord)?.tab;
        if (tab)
          landing.redirect_chain = chainOf(capture.landings.landingHops(capture.journal, tab), capture.startedAtMs);
      }
      if (draft.creative && creative) {
        const documents = creativeDocuments(capture, creative);
        const madeNone = documents.length < 2 && !draft.requests.some(({ surface }) => surface === 'creative');
        draft.creative.redirect_chain = madeNone ? [] : chainOf(documents, capture.startedAtMs);
      }
    };
  },
};

/**
 * Adds to the record what no request shows: the apps that the documents of landings open in their own place, and files
 * of a page's own (`blob:`) that are downloaded in a tab that opens for them. Those that a creative opens in its place
 * are landings of their own. What a page script cancels, it reports; what a document of another origin or an element
 * begins, only Chromium does.
 */
function watchUnrequested({ devtools, journal, landings, reports, tabs }: MemberCapture): void {
  const opened = (url: string, frameId: string) => {
    const tab = tabs.stateOf(frameId);
    if (tab?.committed && !landings.showsCreative(tab) && isOfApp(url)) journal.openedApp(url, frameId);
  };
  devtools.on('Page.downloadWillBegin', ({ url, frameId }) => {
    if (tabs.stateOf(frameId)?.hops === 0 && !isOfServer(url)) journal.openedApp(url, frameId);
  });
  reports.on('app-navigation', (_, url, frameId) => opened(url.join('|'), frameId ?? ''));
  devtools.on('Page.frameRequestedNavigation', ({ url, frameId, disposition }) => {
    if (disposition === 'currentTab') opened(url, frameId);
  });
}

/** The redirect chain of a tab's navigations. Pure. */
export function chainOf(navigations: Entry[], startedAtMs: number): CapturedHop[] {
  return navigations.slice(0, HOPS_MAX).map((entry, index) => ({
    url: entry.url,
    kind: index === 0 ? 'initial' : (entry.hop ?? (entry.isRedirect ? 'http' : 'other')),
    status_code: entry.statusCode,
    content_type: entry.contentType,
    body_size: entry.bodySize,
    timestamp_ms: Math.max(0, Math.round(entry.timestampMs - startedAtMs)),
    redirected_from: navigations[index - 1]?.url ?? '',
  }));
}
