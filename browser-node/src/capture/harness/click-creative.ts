import type { CaptureSession, MemberCapture } from '../session/capture-session.ts';
import { awaitClickables, type Clickables, centreOf, clickablesUnder, gridOver } from './clickables.ts';
import { ancestorFrames, followClick } from './follow-click.ts';
import { type HarnessPage, hasNavigatedAway } from './harness-page.ts';
import { measureFrames } from './measure-frames.ts';
import type { FoundCreative } from './see-creative.ts';

/** Points that are clicked, besides the centre, until a landing opens. */
const CLICKS_MAX = 8;

/**
 * Clicks the centre of a creative, then what looks clickable on it; if nothing opens, for example because the ad
 * expands first, then what looks clickable in view by that time. The tabs that open stay. Resolves to whether a landing
 * opened and the creative is still shown.
 */
export async function clickCreative(
  capture: MemberCapture,
  harness: HarnessPage,
  { path, frames, box }: FoundCreative,
): Promise<boolean> {
  const view = harness.page.viewportSize();
  // A creative whose scripts were stopped does nothing when it is clicked; a frame beside it may be stopped.
  const isStopped = () => path.some(({ at }) => capture.busyDocuments.has(at.session));
  if (!view || !box || isStopped()) return false;
  const clickables = await clickablesUnder(capture, frames, gridOver(box, view));
  const centre = centreOf(box, view);
  const points = [...(centre ? [centre] : []), ...clickables.slice(0, CLICKS_MAX)];
  const kept = ancestorFrames(harness.page, path);
  let followed = await followClick(capture, harness, { frames, kept, points });
  if (followed !== 'opened' && !isStopped()) {
    const inView = await awaitClickables(capture, harness, () => clickablesInView(capture, harness));
    const again = followed === 'replaced' && centre ? [centre] : [];
    followed = await followClick(capture, harness, { ...inView, kept, points: [...again, ...inView.points] });
  }
  return followed === 'opened' && !hasNavigatedAway(harness);
}

/** What looks clickable in view. */
async function clickablesInView(session: CaptureSession, { tab, page }: HarnessPage): Promise<Clickables> {
  const frames = await measureFrames(session, tab.tab.session);
  const view = page.viewportSize();
  const found = view ? await clickablesUnder(session, frames, gridOver({ x: 0, y: 0, ...view }, view)) : [];
  return { frames, points: found.slice(0, CLICKS_MAX) };
}
