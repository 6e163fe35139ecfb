import type { Page } from 'playwright-core';
import { COMMAND_MS } from '../devtools/devtools.ts';
import { evaluateInIsolatedWorld } from '../devtools/isolated-world.ts';
import { NAVIGATION_MS } from '../session/budgets.ts';
import type { CaptureSession } from '../session/capture-session.ts';
import type { OpenTab } from '../session/landings.ts';
import { type OwnAnswer, PageLoads } from './page-loads.ts';
import { publisherAnswer, type StagePage } from './publisher-answer.ts';

/**
 * A page of ours at a publisher's address, on which a creative is shown; its tab is never a landing unless it is led elsewhere. `touched`:
 * the device is used with fingers.
 */
export type Stage = {
  page: Page;
  tab: OpenTab;
  /** What the tab shows, and the publisher's address, which is the same unless the tag had to be opened by itself. */
  url: string;
  publisherUrl: string;
  touched: boolean;
  pageLoads: PageLoads;
};

/**
 * Opens the page at the publisher's address. Nothing is asked of the publisher: we answer in its place, and what a creative asks of that
 * host is answered with nothing, unless the tag itself names it. null: the capture ended. Rejects when the browser is gone.
 */
export async function openStage(
  captureSession: CaptureSession,
  stagePage: StagePage,
  more: OwnAnswer = () => null,
): Promise<Stage | null> {
  const { ending, open, landings, journal } = captureSession;
  const page = await ending.race(open.context.newPage());
  if (!page) return null;
  const tab = await landings.first();
  tab.tab.landingHop = null;
  captureSession.publisherUrl = stagePage.url;
  const publisher = publisherAnswer(page, stagePage);
  const pageLoads = new PageLoads(page, journal, (request) => more(request) ?? publisher(request));
  await ending.race(pageLoads.start(open.context));
  await ending.race(page.goto(stagePage.url + stagePage.fragment, { waitUntil: 'commit', timeout: NAVIGATION_MS }));
  const { session } = tab.tab;
  const asking = evaluateInIsolatedWorld(session, session.targetId, isTouched, null, COMMAND_MS).catch(() => false);
  const touched = (await ending.race(asking)) ?? false;
  const { url } = stagePage;
  return ending.failure ? null : { page, tab, url, publisherUrl: url, touched, pageLoads };
}

/** Runs in the page, in a world of its own. */
const isTouched = (): boolean => navigator.maxTouchPoints > 0 && matchMedia('(pointer: coarse)').matches;
