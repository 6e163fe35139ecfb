import { setTimeout as pause } from 'node:timers/promises';
import { note } from '@adsweep/shared/capture/notes.ts';
import { areaOf, sharedArea } from '../box.ts';
import { evaluateInIsolatedWorld } from '../devtools/isolated-world.ts';
import { findClosedRoots, measureFrames } from '../harness/measure-frames.ts';
import { readScroller, type Screen, scrollToScreen } from '../page-scripts/scroll-to-screen.ts';
import { ANSWER_MS, LATE_SLOTS_MS, READ_THROUGH_MS, underLoad } from '../session/budgets.ts';
import type { CaptureSession } from '../session/capture-session.ts';
import type { FrameAt } from '../session/frames.ts';
import type { OpenTab } from '../session/open-tabs.ts';
import { settle } from '../session/settle.ts';

/** Screens of a page that are scrolled through at most: a page that adds more at its end has no last one. */
const SCREENS_MAX = 25;
/** How long each screen is in view: slots that load when they are seen wait until scrolling pauses. */
const SCREEN_MS = 200;
/** How much longer a screen is in view while requests have no answer. */
const SLOW_SCREEN_MS = 600;
const STEP_MS = 50;

/**
 * Scrolls through the page of a tab as a reader does, so that ads load which wait until they are in view, and back to
 * the top; then waits until the page has settled. A page that takes away what is out of view is scrolled through once
 * more, with `readScreen` at each screen. Bounded in time and in screens; a page that does not answer is left as it is.
 * Notes if it was not scrolled to its end. Rejects as `readScreen` does.
 */
export async function readThrough(
  session: CaptureSession,
  tab: OpenTab,
  readScreen: () => Promise<void>,
): Promise<void> {
  const frame = await frameToScroll(session, tab);
  let last = await scrollDown(session, frame, async () => undefined);
  if (last?.isReplaced) {
    await showScreen(session, frame, true);
    last = await scrollDown(session, frame, readScreen);
  }
  if (last?.isMore !== false) session.notes.push(note('ad_screens'));
  await showScreen(session, frame, true);
  await settle(session, LATE_SLOTS_MS);
}

type Scrolled = Pick<FrameAt, 'session' | 'frameId'>;

/** What a reader scrolls: the page or, where it does not scroll, a frame that fills most of its view and does. */
async function frameToScroll(session: CaptureSession, { tab: { session: target } }: OpenTab): Promise<Scrolled> {
  const page = { session: target, frameId: target.targetId };
  // What scrolls, or what a list shows, may be in a closed shadow root, which scripts enter once it was found.
  await session.ending.race(findClosedRoots(target, target.targetId, underLoad(session, ANSWER_MS)));
  const own = await scrollerOf(session, page);
  if (!own || own.scrolls) return page;
  const frames = await measureFrames(session, target, { select: (all) => all, in: 'viewport' }).catch(() => []);
  const filling = frames.filter(({ box }) => box !== null && sharedArea(box, own.view) * 2 >= areaOf(own.view));
  for (const { at } of filling) if ((await scrollerOf(session, at))?.scrolls) return at;
  return page;
}

/** Null: the frame did not answer, or the capture ended. */
const scrollerOf = (session: CaptureSession, { session: target, frameId }: Scrolled) =>
  session.ending.race(evaluateInIsolatedWorld(target, frameId, readScroller, null, ANSWER_MS).catch(() => null));

/** The last screen that was shown; null: the page did not answer, or the capture ended. */
async function scrollDown(
  session: CaptureSession,
  frame: Scrolled,
  readScreen: () => Promise<void>,
): Promise<Screen | null> {
  const until = performance.now() + underLoad(session, READ_THROUGH_MS);
  let last: Screen | null = { isMore: true, isReplaced: false };
  for (let screen = 0; last?.isMore && screen < SCREENS_MAX && performance.now() < until; screen += 1) {
    last = await showScreen(session, frame, false);
    await dwell(session);
    await readScreen();
    // What loads at the end of a page may add to it.
    if (!last?.isMore) last = await showScreen(session, frame, false);
  }
  return last;
}

/** The screen; null: the page did not answer, or the capture ended. */
async function showScreen(session: CaptureSession, { session: target, frameId }: Scrolled, isTop: boolean) {
  if (session.ending.failure) return null;
  const scrolling = evaluateInIsolatedWorld(target, frameId, scrollToScreen, { isTop }, ANSWER_MS);
  return session.ending.race(scrolling.catch(() => null));
}

async function dwell({ ending, pendingRequests }: CaptureSession): Promise<void> {
  const since = performance.now();
  const ageMs = () => performance.now() - since;
  while (
    !ending.failure &&
    (ageMs() < SCREEN_MS || (pendingRequests.unanswered(SLOW_SCREEN_MS) > 0 && ageMs() < SLOW_SCREEN_MS))
  )
    await ending.race(pause(STEP_MS));
}
