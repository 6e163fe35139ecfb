import { withDeadline } from '@adsweep/shared/service/with-deadline.ts';
import type { Page } from 'playwright-core';
import type { OpenContext } from '../../browser/open-context.ts';
import { COMMAND_MS } from '../devtools/devtools.ts';
import { evaluateInIsolatedWorld } from '../devtools/isolated-world.ts';
import { NAVIGATION_MS } from '../session/budgets.ts';
import type { CaptureSession } from '../session/capture-session.ts';
import type { OpenTab } from '../session/landings.ts';
import { frameOf, type OwnAnswer, PageLoads } from './page-loads.ts';
import { namesHost } from './publisher-url.ts';

/**
 * A page of ours at a publisher's address, on which a creative is shown; its tab is never a landing unless it is led elsewhere. `hasTouch`:
 * the device is used with fingers.
 */
export type HarnessPage = {
  page: Page;
  tab: OpenTab;
  /** What the tab shows, and the publisher's address, which is the same unless the tag had to be opened by itself. */
  url: string;
  publisherUrl: string;
  hasTouch: boolean;
  pageLoads: PageLoads;
};

/**
 * Opens the page at the publisher's address. Nothing is asked of the publisher: we answer in its place, and what a creative asks of that
 * host is answered with nothing, unless the tag itself names it. null: the capture ended. Rejects when the browser is gone.
 */
export async function openHarnessPage(
  captureSession: CaptureSession,
  content: HarnessContent,
  more: OwnAnswer = () => null,
): Promise<HarnessPage | null> {
  const { ending, open, landings, journal } = captureSession;
  const page = await ending.race(open.context.newPage());
  if (!page) return null;
  const tab = await landings.first();
  tab.tab.landingHop = null;
  captureSession.publisherUrl = content.url;
  const publisher = publisherAnswer(page, content);
  const pageLoads = new PageLoads(page, journal, (request) => more(request) ?? publisher(request));
  await ending.race(pageLoads.start(open.context));
  await ending.race(page.goto(content.url + content.fragment, { waitUntil: 'commit', timeout: NAVIGATION_MS }));
  const { session } = tab.tab;
  const asking = evaluateInIsolatedWorld(session, session.targetId, detectTouch, null, COMMAND_MS).catch(() => false);
  const hasTouch = (await ending.race(asking)) ?? false;
  const { url } = content;
  return ending.failure ? null : { page, tab, url, publisherUrl: url, hasTouch, pageLoads };
}

/** Runs in the page, in a world of its own. */
const detectTouch = (): boolean => navigator.maxTouchPoints > 0 && matchMedia('(pointer: coarse)').matches;

/**
 * `url`: the publisher's address; `fragment`: what the page's location has behind it; `markup`: the page; `named`: the text of the tag,
 * whose own hosts may be asked for.
 */
export type HarnessContent = { url: string; fragment: string; markup: string; named: string };

const HEADERS = {
  // What browsers do by themselves; a creative's own page may not be asked for anything else.
  'referrer-policy': 'strict-origin-when-cross-origin',
  'cache-control': 'no-store',
};

/** Answers for the publisher: its page with ours, and with nothing what a creative asks of its host, unless the tag names that host. */
export function publisherAnswer(page: Page, { url, markup, named }: HarnessContent): OwnAnswer {
  const { host } = new URL(url);
  const isNamed = namesHost(named, host);
  return (request) => {
    const frame = frameOf(request);
    if (frame?.page() !== page) return null;
    const asked = URL.parse(request.url());
    if (frame === page.mainFrame() && request.isNavigationRequest()) {
      const isPage = asked?.href.split('#')[0] === new URL(url).href.split('#')[0];
      return isPage ? { status: 200, contentType: 'text/html; charset=utf-8', headers: HEADERS, body: markup } : null;
    }
    return asked?.host === host && !isNamed ? { status: 204, contentType: 'text/plain', headers: {}, body: '' } : null;
  };
}

/** A name longer than any host can have (RFC 1035 2.3.4): the gateway asks for credentials, refuses it and records nothing. */
const REFUSED_URL = `http://${'nobody.'.repeat(40)}invalid/`;

/**
 * Makes a context known to the gateway by a page load that reaches nobody. Without it, pictures that a page of ours asks for are lost:
 * Chromium answers the proxy's question for requests of a page only once it has answered it for a document from the network. Never throws.
 */
export async function authenticate({ context }: OpenContext): Promise<void> {
  const load = async () => {
    const page = await context.newPage();
    // The gateway's refusal is what is wanted. Chromium may never close a page whose document is still on its way.
    await page.goto(REFUSED_URL, { waitUntil: 'load', timeout: COMMAND_MS }).catch(() => undefined);
    await page.close();
  };
  await withDeadline(load(), 2 * COMMAND_MS, 'the first answer of the gateway').catch(() => undefined);
}
