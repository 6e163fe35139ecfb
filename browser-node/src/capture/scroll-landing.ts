import { SUBJECT_ORD } from '@adsweep/shared/capture/capture.ts';
import { evaluateInIsolatedWorld } from './devtools/isolated-world.ts';
import { findClosedRoots } from './harness/measure-frames.ts';
import { scrollThrough } from './page-scripts/scroll-through.ts';
import { ANSWER_MS, LATE_SLOTS_MS, SCREENSHOT_HEIGHT_MAX, SCROLL_MS, underLoad } from './session/budgets.ts';
import { stopBusyScripts } from './session/busy-scripts.ts';
import type { MemberCapture } from './session/capture-session.ts';
import { settle } from './session/settle.ts';
import type { Tab } from './session/tab.ts';

/** Screens that a page is scrolled through. Lazy content below is not loaded. */
const SCREENS_MAX = 8;
/** Time for the requests that scrolling triggers. */
const LAZY_MS = 1_500;

/**
 * Scrolls through the page of the first landing and back to its top, so that its lazy content loads before anything of
 * it is read, and waits for what that requests. If the page opens windows or navigates meanwhile, waits for these too:
 * they are landings like others. A page whose scripts were stopped is left as it is; one that does not answer any more
 * has its scripts stopped. Never throws.
 */
export async function scrollFirstLanding(capture: MemberCapture): Promise<void> {
  const { ending, landings, tabs } = capture;
  const tab = landings.shown().find(({ ord }) => ord === SUBJECT_ORD)?.tab;
  if (!tab || tab.isScriptDisabled || ending.failure) return;
  const { hops } = tab;
  const { attached } = tabs;
  const size = await ending.race(scroll(capture, tab).catch(() => null));
  const hasLed = () => tab.hops > hops || tabs.attached > attached;
  if (size === null && !hasLed()) await ending.race(stopBusyScripts(capture));
  if (size?.scrolled || hasLed()) await settle(capture, hasLed() ? LATE_SLOTS_MS : LAZY_MS);
}

/** Rejects when the page does not answer. */
async function scroll(capture: MemberCapture, { session }: Tab) {
  // Of higher pages, the screenshot shows what is in view.
  const limits = { screens: SCREENS_MAX, heightMax: SCREENSHOT_HEIGHT_MAX };
  const scrolling = { ...limits, keepsPlaces: capture.isSwept === true };
  const deadlineMs = underLoad(capture, SCROLL_MS);
  const run = () => evaluateInIsolatedWorld(session, session.targetId, scrollThrough, scrolling, deadlineMs);
  const size = await run();
  if (size.isCutOff || size.height >= size.viewportHeight * 1.5) return size;
  // What scrolls may be in a closed shadow root, which scripts enter once it was found.
  const hasClosed = await findClosedRoots(session, session.targetId, underLoad(capture, ANSWER_MS));
  return hasClosed ? run() : size;
}
