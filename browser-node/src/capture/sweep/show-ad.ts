import { evaluateInIsolatedWorld } from '../devtools/isolated-world.ts';
import { findAgain } from '../discovery/find-ads.ts';
import { isSamePlace } from '../discovery/find-blocks.ts';
import type { FoundAd } from '../discovery/found-ad.ts';
import { type MeasuredFrame, measureFrames } from '../harness/measure-frames.ts';
import type { Box } from '../page-scripts/measure-visuals.ts';
import { ANSWER_MS, underLoad } from '../session/budgets.ts';
import type { CaptureSession } from '../session/capture-session.ts';
import { bringIntoView, framesOfAd } from './ad-place.ts';

/** An ad in view, as it is in its place now; `box`: in the viewport, in CSS pixels; `frames`: those that show it and those around them. */
export type ShownAd = { ad: FoundAd; box: Box; frames: MeasuredFrame[] };

/** How often an ad is found again: a slot may refresh while it is looked for. */
const TIMES_MAX = 3;

/**
 * Scrolls an ad into view. One that is gone, or whose frames are, is looked for at its place: a slot that refreshes shows the next ad there.
 * Resolves to null when nothing is there any more, or its page does not answer.
 */
export async function showAd(session: CaptureSession, ad: FoundAd): Promise<ShownAd | null> {
  let at = ad;
  for (let time = 0; !session.ending.failure; time += 1) {
    const box = await bringIntoView(session, at);
    const frames = box ? await framesOfAd(session, at).catch(() => []) : [];
    const hasFrames = at.frameIds.length === 0 || frames.some(({ frameId }) => at.frameIds.includes(frameId));
    if (box && hasFrames) return { ad: at, box, frames };
    const again = time < TIMES_MAX && ad.element ? await findAgain(session, at).catch(() => null) : null;
    if (!again) return (await showFrameAt(session, at).catch(() => null)) ?? (box && { ad: at, box, frames });
    at = again;
  }
  return null;
}

/**
 * The frame that is shown where an ad was found: on a slow machine, a slot may refresh faster than its page is searched. Null: no frame is there.
 * Rejects when the page does not answer.
 */
async function showFrameAt(session: CaptureSession, ad: FoundAd): Promise<ShownAd | null> {
  const { block, tab, frameIds } = ad;
  if (frameIds.length === 0) return null;
  const { session: page } = tab.tab;
  const { y, height } = block;
  const deadlineMs = underLoad(session, ANSWER_MS);
  const scrolled = await evaluateInIsolatedWorld(page, page.targetId, scrollToMiddle, { y, height }, deadlineMs);
  const box = { ...block, x: block.x - scrolled.x, y: block.y - scrolled.y };
  const frames = await measureFrames(session, page, { select: (all) => all, in: 'viewport' });
  const own = frames.filter((frame) => frame.box !== null && isSamePlace(frame.box, box));
  const ids = own.map(({ frameId }) => frameId);
  return own[0]?.box ? { ad: { ...ad, frameIds: ids }, box: own[0].box, frames } : null;
}

/** Runs in the page, in an isolated world: scrolls so that a place of the page is in the middle of the view; returns how far that is. */
async function scrollToMiddle({ y, height }: { y: number; height: number }): Promise<{ x: number; y: number }> {
  scrollTo({ top: y + height / 2 - innerHeight / 2, behavior: 'instant' });
  await new Promise((resolve) => {
    requestAnimationFrame(() => requestAnimationFrame(resolve));
    setTimeout(resolve, 500);
  });
  return { x: scrollX, y: scrollY };
}
