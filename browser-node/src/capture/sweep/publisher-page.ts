import type { Note } from '@adsweep/shared/capture/notes.ts';
import type { Logger } from '@adsweep/shared/service/logger.ts';
import { findAds } from '../discovery/find-ads.ts';
import type { FoundAd } from '../discovery/found-ad.ts';
import type { CreativePage } from '../harness/harness-page.ts';
import { PageLoads } from '../harness/page-loads.ts';
import { stopBusyScripts } from '../session/busy-scripts.ts';
import type { CaptureFailure, CaptureRequest } from '../session/capture-outcome.ts';
import {
  type CaptureSession,
  type ContextWatch,
  leaveSession,
  type MemberCapture,
  openSession,
  openTab,
} from '../session/capture-session.ts';
import type { Entry } from '../session/journal-entry.ts';
import { Landings } from '../session/landings.ts';
import { stopMessageFloods } from '../session/message-floods.ts';
import type { OpenTab } from '../session/open-tabs.ts';
import { Visit } from '../session/visit.ts';
import { hasTouch } from '../session/visitor-look.ts';
import { url as pageTarget } from '../targets/url.ts';

/** The page of a sweep in its tab, with the ads that were found on it. */
export type PublisherPage = {
  ads: readonly FoundAd[];
  /** The requests up to the moment in which the ads were found. */
  entries: readonly Entry[];
  /** The page's tab, as one whose navigations are stopped. */
  host: CreativePage;
  /** Whether its tab still shows the document in which the ads were found, and answers. */
  isFit(): Promise<boolean>;
  /** Scripts of the page were stopped: it is not fit any more. */
  spoil(): void;
};

/** What a visit to a page found, once it settled. */
export type VisitedPage = { tab: OpenTab; documentId: string; ads: readonly FoundAd[] };

/** How long a page may take to handle what scripts that were stopped had sent it. */
const HANDLES_REST_MS = 20_000;
/**
 * How long a page may take to answer before it is loaded again, which takes longer and shows each of its ads once more.
 */
const FIT_MS = 10_000;
/**
 * How often a page that was loaded again is searched for the ads that are wanted: some come late, or cannot be read in
 * time on a busy machine.
 */
const SEARCHES_MAX = 2;

/** The ads on a page that has settled, once scripts that hold it up are stopped. Rejects when its tab is gone. */
export async function findOnPage(capture: MemberCapture, tab: OpenTab): Promise<VisitedPage> {
  if (await capture.ending.race(stopBusyScripts(capture))) {
    const handling = tab.tab.session.send('Runtime.evaluate', { expression: '1' }, HANDLES_REST_MS);
    await capture.ending.race(handling.catch(() => undefined));
  }
  const { documentId } = tab.tab;
  return { tab, documentId, ads: await findAds(capture, tab) };
}

/** Keeps a page that was visited in a session: from now on it stays where it is. */
export async function keepPage(session: CaptureSession, { tab, documentId, ads }: VisitedPage): Promise<PublisherPage> {
  const { page } = tab;
  const { isScriptDisabled } = tab.tab;
  let hasEnded = page.isClosed();
  const spoil = () => {
    hasEnded = true;
  };
  for (const event of ['crash', 'close'] as const) page.on(event as 'close', spoil);
  const pageLoads = new PageLoads(page, session, () => null);
  await pageLoads.hold();
  const host = { page, tab, url: tab.tab.documentUrl, hasTouch: await hasTouch(tab), pageLoads };
  const isFit = async () => {
    if (hasEnded || tab.tab.documentId !== documentId || tab.tab.isScriptDisabled !== isScriptDisabled) return false;
    const asking = tab.tab.session.send('Runtime.evaluate', { expression: '1' }, FIT_MS);
    return asking.then(
      () => !hasEnded,
      () => false,
    );
  };
  return { ads, entries: session.journal.sent(), host, isFit, spoil };
}

/**
 * Loads a page once more in a tab of its own, for those of its ads with the identities `wanted`. Tabs that are open are
 * closed.
 */
export async function loadAgain(
  watch: ContextWatch,
  request: CaptureRequest,
  wanted: readonly string[],
  signal: AbortSignal,
  logger: Logger,
): Promise<{ page: PublisherPage; notes: Note[] } | { failure: CaptureFailure }> {
  const session = openSession(watch, { limits: request.limits }, signal, logger);
  const { ending } = session;
  const capture: MemberCapture = {
    ...session,
    visit: new Visit(),
    landings: new Landings(session.tabs),
    publisherUrl: '',
  };
  stopMessageFloods(capture);
  try {
    const load = async () => {
      const tab = await openTab(capture);
      if (!tab) return null;
      const { error, failure } = await pageTarget.visit(capture, tab, request);
      if (failure || error)
        return { failure: failure ?? ({ code: 'navigation: CONNECTION_FAILED', cause: error } as const) };
      const lacks = ({ ads }: VisitedPage) => wanted.some((one) => ads.every(({ block }) => block.identity !== one));
      let found = await findOnPage(capture, tab);
      for (let time = 1; time < SEARCHES_MAX && lacks(found) && !ending.failure; time += 1)
        found = await findOnPage(capture, tab);
      return { page: await keepPage(capture, found), notes: session.notes };
    };
    const loaded = await ending.contain(load());
    return loaded ?? { failure: ending.failure ?? { code: 'browser: TIMEOUT', cause: 'the page was not loaded' } };
  } finally {
    leaveSession(session);
  }
}
