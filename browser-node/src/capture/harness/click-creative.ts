import { setTimeout } from 'node:timers/promises';
import { LATE_CLICKABLE_MS } from '../session/budgets.ts';
import type { CaptureSession, MemberCapture } from '../session/capture-session.ts';
import { type Clickable, centreOf, clickablesUnder, gridOver } from './clickables.ts';
import { ancestorFrames, followClick } from './follow-click.ts';
import { type HarnessPage, hasNavigatedAway } from './harness-page.ts';
import { type MeasuredFrame, measureFrames } from './measure-frames.ts';
import type { FoundCreative } from './see-creative.ts';

/** Points that are clicked, besides the centre, until a landing opens. */
const CLICKS_MAX = 8;
const LOOK_EVERY_MS = 250;

/**
 * Clicks the centre of a creative, then what looks clickable on it; if nothing opens, for example because the ad expands first, then what
 * looks clickable in view by that time. The tabs that open stay. Resolves to whether a landing opened and the creative is still shown.
 */
export async function clickCreative(
  capture: MemberCapture,
  harness: HarnessPage,
  { path, frames, box }: FoundCreative,
): Promise<boolean> {
  const view = harness.page.viewportSize();
  // A creative whose scripts were stopped does nothing when it is clicked.
  if (!view || !box || capture.busyDocuments.size > 0) return false;
  const clickables = await clickablesUnder(capture, frames, gridOver(box, view));
  const centre = centreOf(box, view);
  const points = [...(centre ? [centre] : []), ...clickables.slice(0, CLICKS_MAX)];
  const kept = ancestorFrames(harness.page, path);
  let followed = await followClick(capture, harness, { frames, kept, points });
  if (followed !== 'opened' && capture.busyDocuments.size === 0) {
    const inView = await awaitClickables(capture, harness);
    const again = followed === 'replaced' && centre ? [centre] : [];
    followed = await followClick(capture, harness, { ...inView, kept, points: [...again, ...inView.points] });
  }
  return followed === 'opened' && !hasNavigatedAway(harness);
}

/** What can be clicked in view, with the frames of the tab as they were measured for it. */
type InView = { frames: MeasuredFrame[]; points: Clickable[] };

/** What looks clickable in view; if nothing does, as soon as something does: a call to action may come at the end of an animation. */
async function awaitClickables(session: CaptureSession, harness: HarnessPage): Promise<InView> {
  const until = performance.now() + LATE_CLICKABLE_MS;
  for (;;) {
    const found = await clickablesInView(session, harness);
    if (found.points.length > 0 || performance.now() > until || session.ending.failure || hasNavigatedAway(harness))
      return found;
    await session.ending.race(setTimeout(LOOK_EVERY_MS));
  }
}

async function clickablesInView(session: CaptureSession, { tab, page }: HarnessPage): Promise<InView> {
  const frames = await measureFrames(session, tab.tab.session);
  const view = page.viewportSize();
  const found = view ? await clickablesUnder(session, frames, gridOver({ x: 0, y: 0, ...view }, view)) : [];
  return { frames, points: found.slice(0, CLICKS_MAX) };
}
