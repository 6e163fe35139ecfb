import { SUBJECT_ORD } from '@adsweep/shared/capture/capture.ts';
import { evaluateInIsolatedWorld } from '../devtools/isolated-world.ts';
import { scrollThrough } from '../page-scripts/scroll-through.ts';
import { LATE_SLOTS_MS, SCREENSHOT_HEIGHT_MAX, SCROLL_MS, underLoad } from './budgets.ts';
import { stopBusyScripts } from './busy-scripts.ts';
import type { MemberCapture } from './capture-session.ts';
import { settle } from './settle.ts';

/** Screens that a page is scrolled through. Lazy content below is not loaded. */
const SCREENS_MAX = 8;
/** Time for the requests that scrolling triggers. */
const LAZY_MS = 1_500;

/**
 * Scrolls through the page of the first landing and back to its top, so that its lazy content loads before anything of it is read, and waits for
 * what that requests. If the page opens windows or navigates meanwhile, waits for these too: they are landings like others. A page whose scripts were
 * stopped is left as it is; one that does not answer any more has its scripts stopped. Never throws.
 */
export async function scrollFirstLanding(capture: MemberCapture): Promise<void> {
  const { ending, landings, tabs } = capture;
  const tab = landings.shown().find(({ ord }) => ord === SUBJECT_ORD)?.tab;
  if (!tab || tab.isScriptDisabled || ending.failure) return;
  const { session, hops } = tab;
  const { attached } = tabs;
  // Of higher pages, the screenshot shows what is in view.
  const limits = { screens: SCREENS_MAX, heightMax: SCREENSHOT_HEIGHT_MAX };
  const scrolling = { ...limits, keepsPlaces: capture.isSwept === true };
  const deadlineMs = underLoad(capture, SCROLL_MS);
  const size = await ending.race(
    evaluateInIsolatedWorld(session, session.targetId, scrollThrough, scrolling, deadlineMs).catch(() => null),
  );
  const hasLed = () => tab.hops > hops || tabs.attached > attached;
  if (size === null && !hasLed()) await ending.race(stopBusyScripts(capture));
  if (size?.scrolled || hasLed()) await settle(capture, hasLed() ? LATE_SLOTS_MS : LAZY_MS);
}
