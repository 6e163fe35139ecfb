import { CLICK_MS } from '../session/budgets.ts';
import type { CaptureSession } from '../session/capture-session.ts';
import { underLoad } from '../session/machine-load.ts';
import { type Clickable, clickablesUnder } from './clickables.ts';
import { clickAt, waitFor } from './follow-click.ts';
import { measureFrames } from './measure-frames.ts';
import type { Stage } from './stage.ts';

/** How often something was clicked, and the first thing that opened nothing, '' = everything opened something. */
export type Interactivity = { clicked: number; inert: string };

const CLICKS_MAX = 40;
/** What a click started may come a little later: it is no answer to the next one. */
const REST_MS = 200;

/**
 * Clicks each of these once until one opens nothing: tries no page load and no tab (spec 2.5). Every page load that a click starts is stopped
 * inside the browser, so that none opens the click-through; what the creative sends on its own goes out. Takes `budgetMs` at most.
 */
export async function checkInteractive(
  captureSession: CaptureSession,
  stage: Stage,
  clickables: readonly Clickable[],
  budgetMs: number,
): Promise<Interactivity> {
  const { ending, landings } = captureSession;
  const until = performance.now() + budgetMs;
  const checked: Interactivity = { clicked: 0, inert: '' };
  captureSession.isChecking = true;
  landings.refuseFurther();
  const frames = await measureFrames(captureSession, stage.tab.tab.session);
  try {
    for (const clickable of clickables.slice(0, CLICKS_MAX)) {
      if (ending.failure || stage.page.isClosed() || performance.now() > until) break;
      // What the click, or one of these, took away is no button any more.
      if ((await clickablesUnder(captureSession, frames, [clickable])).length === 0) continue;
      stage.pageLoads.stopAll();
      const tabsBefore = landings.opened;
      await ending.race(clickAt(stage, clickable).catch(() => undefined));
      const opens = () => stage.pageLoads.stopped.length > 0 || landings.opened > tabsBefore;
      await waitFor(() => opens() || ending.failure !== null, underLoad(captureSession, CLICK_MS));
      if (ending.failure) break;
      checked.clicked += 1;
      if (!opens()) {
        checked.inert = clickable.label;
        break;
      }
      await waitFor(() => ending.failure !== null, REST_MS);
      landings.closeRefused();
    }
  } finally {
    // A load that a click started may come late: page loads stay stopped.
    stage.pageLoads.stopAll();
    landings.closeRefused();
  }
  return checked;
}
