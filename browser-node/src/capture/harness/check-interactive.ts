import { CLICK_MS, underLoad } from '../session/budgets.ts';
import type { CaptureSession } from '../session/capture-session.ts';
import { type Clickable, clickablesUnder, gridOver } from './clickables.ts';
import { clickAt, hasNavigatedAway, waitFor } from './follow-click.ts';
import type { HarnessPage } from './harness-page.ts';
import { findCreative } from './see-creative.ts';

/** How often something was clicked, and the first thing that opened nothing, '' = everything opened something. */
export type Interactivity = { clicked: number; inert: string };

const CLICKS_MAX = 40;
/** What a click started may come a little later: it is no answer to the next one. */
const REST_MS = 200;

/**
 * Clicks the creative's buttons and links under a grid of points once each until one opens nothing: tries no page load and no tab (spec 2.5).
 * They are looked for before each click: what an earlier one brought is clicked too, and what it took away is no button any more. Every page
 * load that a click starts is stopped inside the browser, so that none opens the click-through; what the creative sends on its own goes
 * out. Takes `budgetMs` at most. `isPage`: the tag is the address of a page with the creative.
 */
export async function checkInteractive(
  captureSession: CaptureSession,
  harness: HarnessPage,
  isPage: boolean,
  budgetMs: number,
): Promise<Interactivity> {
  const { ending, landings } = captureSession;
  const until = performance.now() + budgetMs;
  const isOver = () =>
    ending.failure !== null || harness.page.isClosed() || hasNavigatedAway(harness) || performance.now() > until;
  const clicked = new Set<string>();
  captureSession.isChecking = true;
  landings.refuseFurther();
  try {
    while (clicked.size < CLICKS_MAX && !isOver()) {
      const next = (await clickablesOf(captureSession, harness, isPage)).find(({ key }) => !clicked.has(key));
      if (!next || isOver()) break;
      const opens = await opensAnything(captureSession, harness, next);
      if (ending.failure) break;
      clicked.add(next.key);
      if (!opens) return { clicked: clicked.size, inert: next.label };
      await waitFor(() => ending.failure !== null, REST_MS);
      landings.closeRefused();
    }
  } finally {
    // A load that a click started may come late: those of the creative stay stopped.
    harness.pageLoads.releaseLandings();
    landings.closeRefused();
  }
  return { clicked: clicked.size, inert: '' };
}

/** What looks clickable on the creative as it is shown now. */
async function clickablesOf(
  captureSession: CaptureSession,
  harness: HarnessPage,
  isPage: boolean,
): Promise<Clickable[]> {
  const { frames, place } = await findCreative(captureSession, harness, isPage);
  const view = harness.page.viewportSize();
  return place && view ? clickablesUnder(captureSession, frames, gridOver(place.box, view)) : [];
}

/** Whether a click tries a page load or a tab. */
async function opensAnything(
  captureSession: CaptureSession,
  harness: HarnessPage,
  clickable: Clickable,
): Promise<boolean> {
  const { ending, landings } = captureSession;
  harness.pageLoads.stopAll();
  const tabsBefore = landings.opened;
  const opens = () => harness.pageLoads.stopped.length > 0 || landings.opened > tabsBefore;
  await ending.race(clickAt(harness, clickable).catch(() => undefined));
  await waitFor(() => opens() || ending.failure !== null, underLoad(captureSession, CLICK_MS));
  return opens();
}
