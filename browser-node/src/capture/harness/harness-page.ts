import { withDeadline } from '@adsweep/shared/service/with-deadline.ts';
import type { Page } from 'playwright-core';
import type { OpenContext } from '../../browser/open-context.ts';
import { COMMAND_MS, rootOf, targetWith } from '../devtools/devtools.ts';
import { NAVIGATION_MS } from '../session/budgets.ts';
import type { MemberCapture } from '../session/capture-session.ts';
import type { OpenTab } from '../session/open-tabs.ts';
import { isOfApp, isOfServer, withoutFragment } from '../session/urls.ts';
import { hasTouch } from '../session/visitor-look.ts';
import { frameOf, type OwnAnswer, PageLoads } from './page-loads.ts';
import { namesHost } from './publisher-url.ts';

/**
 * What a harness page is made of. `fragment`: the fragment of its location; `markup`: its HTML; `tag`: the text of the
 * tag, which may name hosts that it sends requests to.
 */
export type HarnessContent = { fragment: string; markup: string; tag: string };

/**
 * A page with a creative that is clicked. `url`: that of its document; the tab's own differs where a script changed it
 * without a navigation.
 */
export type CreativePage = {
  readonly page: Page;
  readonly tab: OpenTab;
  readonly url: string;
  readonly hasTouch: boolean;
  readonly pageLoads: PageLoads;
};

/**
 * A synthetic publisher page that hosts a creative: the request for the publisher's URL is intercepted and answered by
 * us. Its tab is a landing only once it navigates away.
 */
export type HarnessPage = CreativePage & {
  /** Its `url`, unless the tag's own had to be opened by itself. */
  readonly publisherUrl: string;
};

/**
 * Opens the harness page of a capture in a blank tab. No request reaches the publisher: we answer requests for the
 * page, and requests of the creative to that host get an empty answer, unless the tag itself names the host. `more`:
 * answers that come before those. null: the capture ended. Rejects when the browser is gone.
 */
export async function openHarnessPage(
  capture: MemberCapture,
  tab: OpenTab,
  content: HarnessContent,
  more: OwnAnswer = () => null,
): Promise<HarnessPage | null> {
  const { ending, open, landings, journal, tabs, publisherUrl: url } = capture;
  const { page } = tab;
  landings.markAsCreative(tab.tab, url);
  tab.tab.hostsCreative = true;
  const publisher = publisherAnswer(page, url, content);
  const pageLoads = new PageLoads(page, { journal, tabs }, (request) => more(request) ?? publisher(request));
  watchUnrequested(capture, { tab, pageLoads });
  await ending.race(pageLoads.start(open.context));
  await ending.race(page.goto(url + content.fragment, { waitUntil: 'commit', timeout: NAVIGATION_MS }));
  const isTouched = (await ending.race(hasTouch(tab))) ?? false;
  return ending.failure ? null : { page, tab, url, publisherUrl: url, hasTouch: isTouched, pageLoads };
}

const HEADERS = {
  // The browsers' default; otherwise a creative could ask for another policy.
  'referrer-policy': 'strict-origin-when-cross-origin',
  'cache-control': 'no-store',
};

/**
 * Answers for the publisher: its page with ours, other requests to its host with nothing, unless the tag names that
 * host.
 */
function publisherAnswer(page: Page, url: string, { markup, tag }: HarnessContent): OwnAnswer {
  const { host } = new URL(url);
  const isNamed = namesHost(tag, host);
  return (request) => {
    const frame = frameOf(request);
    if (frame?.page() !== page) return null;
    const requested = URL.parse(request.url());
    if (frame === page.mainFrame() && request.isNavigationRequest()) {
      const isPage = requested !== null && withoutFragment(requested.href) === withoutFragment(new URL(url).href);
      return isPage ? { status: 200, contentType: 'text/html; charset=utf-8', headers: HEADERS, body: markup } : null;
    }
    return requested?.host === host && !isNamed
      ? { status: 204, contentType: 'text/plain', headers: {}, body: '' }
      : null;
  };
}

/** Whether the tab shows another document than the one with the creative now. */
export const hasNavigatedAway = ({ tab: { tab }, url }: Pick<CreativePage, 'tab' | 'url'>): boolean => tab.hasLeft(url);

/**
 * Reports the apps that a clicked creative links to in its own place to the page's loads, and the files that it made
 * itself and that are downloaded: no request shows either. Most navigations to apps a page script cancels; those that a
 * document of another origin or an element begins only Chromium reports. `isOfPage`:
 * whether what a target requests is done by the page that shows the creative, and not by the creative; absent: nothing
 * is.
 */
export function watchUnrequested(
  { devtools, reports, visit }: MemberCapture,
  { tab: { page, tab }, pageLoads }: Pick<CreativePage, 'tab' | 'pageLoads'>,
  isOfPage: (requesterId: string) => boolean = () => false,
): void {
  const cancelled = (url: string, frameId: string | null, requesterId: string) => {
    if (!visit.isUnprompted(frameId) && !isOfPage(requesterId)) pageLoads.notRequested(url);
  };
  devtools.on('Page.frameRequestedNavigation', ({ url, frameId, disposition }, session) => {
    if (disposition === 'currentTab' && rootOf(session) === tab.session && isOfApp(url))
      cancelled(url, frameId, session.targetId);
  });
  devtools.on('Page.downloadWillBegin', ({ url, frameId }, session) => {
    if (rootOf(session) === tab.session && !isOfServer(url)) cancelled(url, frameId, session.targetId);
  });
  reports.on('app-navigation', (of, url, frameId) => {
    // A document reports what documents of its own origin begin, which are in its process.
    if (of === page && isOfApp(url.join('|')))
      cancelled(url.join('|'), frameId, targetWith(devtools, frameId) ?? tab.session.targetId);
  });
}

/** Makes the tab a landing, from its first document after the one that showed the creative. */
export function markAsLanding({ journal, landings }: MemberCapture, { tab: { tab }, url }: CreativePage): void {
  const hops = journal.hopsOf(tab.session.targetId);
  landings.markAsLanding(hops.findLastIndex((hop) => withoutFragment(hop.url) === withoutFragment(url)) + 1);
}

/**
 * A name longer than any host can have (RFC 1035 2.3.4): the gateway asks for credentials, then refuses it and records
 * nothing.
 */
const REFUSED_URL = `http://${'nobody.'.repeat(40)}invalid/`;

/**
 * Authenticates a context at the gateway by loading a page that cannot exist. Chromium answers the proxy's challenge
 * for requests of a fulfilled page only after it has answered one for a document from the network: without this, images
 * of a harness page get 407. Never throws.
 */
export async function authenticate({ context }: OpenContext): Promise<void> {
  const load = async () => {
    const page = await context.newPage();
    // Chromium may never close a page whose document is still on its way: the gateway's refusal is awaited.
    await page.goto(REFUSED_URL, { waitUntil: 'load', timeout: COMMAND_MS }).catch(() => undefined);
    await page.close();
  };
  await withDeadline(load(), 2 * COMMAND_MS, 'the first answer of the gateway').catch(() => undefined);
}
