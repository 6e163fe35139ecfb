import { DeadlineError, withDeadline } from '@adsweep/shared/service/with-deadline.ts';
import { ANSWER_MS, CLICK_MS, CLICKED_MS, underLoad } from '../session/budgets.ts';
import { rememberTimes, stopBusyScripts } from '../session/busy-scripts.ts';
import { type CaptureSession, type MemberCapture, refuseTabs, stopLoads } from '../session/capture-session.ts';
import { clickAsVisitor } from '../session/visitor-click.ts';
import type { Clickable } from './clickables.ts';
import { waitFor } from './follow-click.ts';
import { type CreativePage, hasNavigatedAway } from './harness-page.ts';
import type { Interactivity } from './see-creative.ts';

const CLICKS_MAX = 40;
/** Pause after a click, so that what it starts late is not taken for an effect of the next one. */
const PAUSE_MS = 200;

/**
 * Clicks each button and link of the creative once, until one of them tries no page load and no tab (spec 2.5). They
 * are looked up before each click, because a click may add and remove some. Page loads that a click starts are stopped
 * inside the browser, so that no click-through is requested; other requests of the creative pass. A click that makes
 * the creative spin ends the check, and its scripts are stopped. Takes `budgetMs` at most. `clickables`: looks up what
 * looks clickable on the creative now.
 */
export async function checkInteractive(
  capture: MemberCapture,
  harness: CreativePage,
  clickables: () => Promise<Clickable[]>,
  budgetMs: number,
): Promise<Interactivity> {
  const { ending, tabs, visit } = capture;
  const until = performance.now() + budgetMs;
  const isOver = () =>
    ending.failure !== null || harness.page.isClosed() || hasNavigatedAway(harness) || performance.now() > until;
  const clicked = new Set<string>();
  const busyBefore = capture.busyDocuments.size;
  const startedAtMs = Date.now();
  visit.beginCheck();
  harness.pageLoads.stopAll();
  refuseTabs(capture);
  try {
    while (clicked.size < CLICKS_MAX && !isOver()) {
      const next = (await clickables()).find(({ key }) => !clicked.has(key));
      if (!next || isOver()) break;
      const opens = await opensAnything(capture, harness, next);
      if (ending.failure || capture.busyDocuments.size > busyBefore) break;
      clicked.add(next.key);
      if (!opens) return { clicked: clicked.size, inert: next.label };
      await waitFor(() => ending.failure !== null, PAUSE_MS);
      tabs.closeRefused();
    }
  } finally {
    // A page load of the creative may start late, so those stay stopped: interception ends before its tab is closed.
    harness.pageLoads.releaseLandings();
    stopLoads(capture, harness.tab, startedAtMs);
    tabs.closeRefused();
  }
  return { clicked: clicked.size, inert: '' };
}

/** Whether a click tries a page load or a tab. */
async function opensAnything(session: CaptureSession, harness: CreativePage, clickable: Clickable): Promise<boolean> {
  const { ending, tabs } = session;
  harness.pageLoads.stopAll();
  // Chromium opens a tab at once; Playwright reports one whose load was stopped during a later click.
  const tabsBefore = tabs.attached;
  const opens = () => harness.pageLoads.stopped.length > 0 || tabs.attached > tabsBefore;
  await ending.race(rememberTimes(session));
  const clicking = clickAsVisitor(harness.tab, harness.hasTouch, clickable);
  const handled = withDeadline(clicking, CLICKED_MS, 'a click').then(() => false);
  const isLate = await ending.race(handled.catch((error) => error instanceof DeadlineError));
  // What comes after it needs documents that answer. It has not for as long as a click may take.
  if (isLate) await ending.race(stopBusyScripts(session, ANSWER_MS));
  await waitFor(() => opens() || ending.failure !== null, underLoad(session, CLICK_MS));
  return opens();
}
