import type { Page } from 'playwright-core';
import { ResponseTooLargeError } from '../../browser/own-commands.ts';
import { COMMAND_MS, type CommandAnswer, type TargetSession } from '../devtools/devtools.ts';
import { documentOf, inRealmOf, listenersOf, type PageListener } from '../devtools/event-listeners.ts';
import { activateFrame } from '../devtools/isolated-world.ts';
import { cancelAppNavigations } from '../page-scripts/cancel-app-navigations.ts';
import { watchHistory } from '../page-scripts/watch-history.ts';
import { FRAMES_MAX, PROBE_MS, underLoad } from '../session/budgets.ts';
import type { CaptureSession, MemberCapture } from '../session/capture-session.ts';
import { type FrameAt, framesOf } from '../session/frames.ts';
import type { Landing } from '../session/landings.ts';
import { clipUrl, withoutFragment } from '../session/urls.ts';
import type { Collector } from './collector.ts';

type History = CommandAnswer<'Page.getNavigationHistory'>;
/**
 * What a tab's document and its frames did to the history: its length when the document was committed, the entries
 * added since, and how many of these were added by frames that changed their URL.
 */
export type Growth = { lengthAtStart: number; pushes: number; movedFrames: number };

/** Events that report to a page that a visitor goes back. */
const BACK_EVENTS = new Set(['popstate', 'hashchange', 'navigate', 'currententrychange']);
/** Our own page scripts listen too. */
const OWN_LISTENERS = `${cancelAppNavigations}${watchHistory}`;

/** Entries that a page and its frames add to the history without a click, and where going back then leads. */
export const backButton: Collector = {
  name: 'back_button',
  start(capture) {
    const growths = new Map<Page, Growth & { byFrame: Map<string | null, number> }>();
    capture.reports.on('history', (page, [event, count, copy], frameId) => {
      if (event === 'length')
        growths.set(page, { lengthAtStart: Number(count), pushes: 0, movedFrames: 0, byFrame: new Map() });
      const growth = growths.get(page);
      if (event !== 'push' || !growth) return;
      growth.pushes += 1;
      growth.byFrame.set(frameId, (growth.byFrame.get(frameId) ?? 0) + 1);
      if (copy !== 'true') growth.movedFrames += 1;
    });
    return async (draft) => {
      for (const landing of capture.landings.shown()) {
        const growth = growths.get(landing.page);
        if (!growth) continue;
        const url = landing.tab.url;
        const facts = await historyFacts(capture, landing, growth);
        // Chromium has one history for the whole tab: the frame that added the most entries is responsible for all of
        // them.
        const [frameId = null] = [...growth.byFrame].toSorted(([, a], [, b]) => b - a)[0] ?? [];
        if (facts.pushes > 0)
          draft.observations.push({ kind: 'back_button', landing: landing.ord, url, facts, frameId });
      }
    };
  },
};

async function historyFacts(capture: MemberCapture, { tab }: Landing, growth: Growth) {
  const history = await tab.session.send('Page.getNavigationHistory');
  const { pushes, copies, frameLoads } = historyGrowth(history, growth);
  const listens = pushes > 0 && (await listensForBack(capture, tab.session));
  // A page learns that the visitor goes back without a listener too: by a timer, or by the loads of its frames.
  const probe_url = pushes > 0 || frameLoads > 0 ? await probe(capture, tab.session, history) : '';
  return { pushes: probe_url === '' ? pushes : pushes + frameLoads, copies, popstate_listener: listens, probe_url };
}

/**
 * How many entries the document and its frames added, how many of these have its own URL (ignoring fragments), and how
 * many entries come from frames loading other documents. Pure.
 */
export function historyGrowth({ entries, currentIndex }: History, growth: Growth) {
  const all = Math.max(0, entries.length - growth.lengthAtStart);
  const pushes = Math.min(growth.pushes, all);
  const own = withoutFragment(entries[currentIndex]?.url ?? '');
  const added = entries.slice(entries.length - pushes).filter(({ url }) => withoutFragment(url) === own);
  return { pushes, copies: Math.max(0, added.length - growth.movedFrames), frameLoads: all - pushes };
}

async function listensForBack(capture: CaptureSession, root: TargetSession): Promise<boolean> {
  const frames = (await framesOf(capture, root)).slice(0, FRAMES_MAX);
  const listening = await Promise.all(frames.map(frameListensForBack));
  return listening.includes(true);
}

/**
 * Whether a frame listens for Back; false: it is gone, or does not answer. What is too large to be read hides
 * something.
 */
export const frameListensForBack = (frame: FrameAt): Promise<boolean> =>
  hasListener(frame).catch((error: unknown) => error instanceof ResponseTooLargeError);

/**
 * Reaches the frame's window through its document, which a page cannot replace. A page that replaced `navigation` is
 * taken to listen there: it hides something.
 */
async function hasListener({ session, frameId }: FrameAt): Promise<boolean> {
  const documentId = await documentOf({ session, frameId });
  for (const name of ['window', 'window.navigation']) {
    const owner = await inRealmOf(session, documentId, name);
    if (name === 'window.navigation' && owner.className !== 'Navigation') return true;
    const listeners = await listenersOf(session, owner.objectId ?? '');
    if (listeners.some((one) => BACK_EVENTS.has(one.type) && !isOwnListener(one))) return true;
  }
  return false;
}

/** Whether a listener is one of our page scripts, which no page can read. */
const isOwnListener = ({ handler }: PageListener): boolean => {
  const source = handler?.description ?? '';
  return source.includes('\n') && OWN_LISTENERS.includes(source);
};

/** Goes back once; returns the URL that leads to, '' if it is in the history already. */
async function probe(
  capture: MemberCapture,
  session: TargetSession,
  { entries, currentIndex }: History,
): Promise<string> {
  const before = entries[currentIndex - 1];
  const landing = capture.landings.all.find(({ tab }) => tab.session === session);
  if (!before || !landing) return '';
  const seen = new Set(entries.map(({ url }) => withoutFragment(url)));
  const isNew = (url: string) => !seen.has(withoutFragment(url));
  // If nothing happens, going back leads to the previous page. Awaited only once the frames are activated, which may take
  // longer than its time.
  const arriving = landing.page
    .waitForURL((url) => isNew(url.href), { timeout: underLoad(capture, PROBE_MS), waitUntil: 'commit' })
    .catch(() => undefined);
  capture.visit.beginProbe(capture.journal);
  await activateFrames(capture, session);
  session.notify('Page.navigateToHistoryEntry', { entryId: before.id });
  await arriving;
  const url = landing.page.url();
  return isNew(url) ? clipUrl(url) : '';
}

/**
 * Gives the frames user activation, as a visitor who goes back has: without it, Chromium does not let frames of other
 * sites navigate the page.
 */
async function activateFrames(capture: CaptureSession, root: TargetSession): Promise<void> {
  const frames = (await framesOf(capture, root)).slice(0, FRAMES_MAX);
  // A frame that was removed needs none.
  await Promise.all(
    frames.map(({ session, frameId }) => activateFrame(session, frameId, COMMAND_MS).catch(() => undefined)),
  );
}
