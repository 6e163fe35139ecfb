import { setTimeout as pause } from 'node:timers/promises';
import { note } from '@adsweep/shared/capture/notes.ts';
import { evaluateInIsolatedWorld } from '../devtools/isolated-world.ts';
import { type Screen, scrollToScreen } from '../page-scripts/scroll-to-screen.ts';
import { ANSWER_MS, LATE_SLOTS_MS, READ_THROUGH_MS, underLoad } from '../session/budgets.ts';
import type { CaptureSession } from '../session/capture-session.ts';
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
 * Scrolls through the page of a tab as a reader does, so that ads load which wait until they are in view, and back to the top; then waits
 * until the page has settled. A page that takes away what is out of view is scrolled through once more, with `readScreen` at each screen. Bounded in
 * time and in screens; a page that does not answer is left as it is. Notes if it was not scrolled to its end. Rejects as `readScreen` does.
 */
export async function readThrough(
  session: CaptureSession,
  tab: OpenTab,
  readScreen: () => Promise<void>,
): Promise<void> {
  let last = await scrollDown(session, tab, async () => undefined);
  if (last?.isReplaced) {
    await showScreen(session, tab, true);
    last = await scrollDown(session, tab, readScreen);
  }
  if (last?.isMore !== false) session.notes.push(note('ad_screens'));
  await showScreen(session, tab, true);
  await settle(session, LATE_SLOTS_MS);
}

/** The last screen that was shown; null: the page did not answer, or the capture ended. */
async function scrollDown(
  session: CaptureSession,
  tab: OpenTab,
  readScreen: () => Promise<void>,
): Promise<Screen | null> {
  const until = performance.now() + underLoad(session, READ_THROUGH_MS);
  let last: Screen | null = { isMore: true, isReplaced: false };
  for (let screen = 0; last?.isMore && screen < SCREENS_MAX && performance.now() < until; screen += 1) {
    last = await showScreen(session, tab, false);
    await dwell(session);
    await readScreen();
    // What loads at the end of a page may add to it.
    if (!last?.isMore) last = await showScreen(session, tab, false);
  }
  return last;
}

/** The screen; null: the page did not answer, or the capture ended. */
async function showScreen(session: CaptureSession, { tab: { session: target } }: OpenTab, isTop: boolean) {
  if (session.ending.failure) return null;
  const scrolling = evaluateInIsolatedWorld(target, target.targetId, scrollToScreen, { isTop }, ANSWER_MS);
  return session.ending.race(scrolling.catch(() => null));
}

async function dwell({ ending, journal }: CaptureSession): Promise<void> {
  const since = performance.now();
  const ageMs = () => performance.now() - since;
  while (
    !ending.failure &&
    (ageMs() < SCREEN_MS || (journal.unanswered(SLOW_SCREEN_MS) > 0 && ageMs() < SLOW_SCREEN_MS))
  )
    await ending.race(pause(STEP_MS));
}
