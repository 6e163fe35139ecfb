import type { Box } from '../box.ts';
import { evaluateInIsolatedWorld } from '../devtools/isolated-world.ts';
import { findAgain } from '../discovery/find-ads.ts';
import { isSamePlace } from '../discovery/find-blocks.ts';
import type { FoundAd } from '../discovery/found-ad.ts';
import { type MeasuredFrame, measureFrames } from '../harness/measure-frames.ts';
import { ANSWER_MS, underLoad } from '../session/budgets.ts';
import type { CaptureSession } from '../session/capture-session.ts';
import { bringIntoView, framesOfAd, ownerOf, viewOf } from './ad-place.ts';

/**
 * An ad in view, as it is in its place now; `box`: in the viewport, in CSS pixels; `frames`: those that show it and
 * those around them.
 */
export type ShownAd = { ad: FoundAd; box: Box; frames: MeasuredFrame[] };

/**
 * How often an ad is found again, and then how often its place is looked at: a slot may refresh meanwhile each time.
 */
const TIMES_MAX = 3;

/**
 * Scrolls an ad into view. One that is gone, or whose frames are, is looked for at its place: a slot that refreshes
 * shows the next ad there. Resolves to null when nothing is there any more, or its page does not answer.
 */
export async function showAd(session: CaptureSession, ad: FoundAd): Promise<ShownAd | null> {
  let at = ad;
  for (let time = 0; !session.ending.failure; time += 1) {
    const box = await bringIntoView(session, at);
    const frames = box ? await framesOfAd(session, at).catch(() => []) : [];
    const hasFrames =
      at.frameIds.length === 0 ||
      frames.some(({ frameId, box: shown }) => shown !== null && at.frameIds.includes(frameId));
    if (box && hasFrames) return { ad: at, box, frames };
    const again = time < TIMES_MAX && ad.element ? await findAgain(session, at).catch(() => null) : null;
    if (!again) return (await showPlace(session, at)) ?? (box && { ad: at, box, frames });
    at = again;
  }
  return null;
}

/**
 * What is shown where an ad was found; null: no frame is there whenever it is looked at, or the page does not answer.
 */
async function showPlace(session: CaptureSession, ad: FoundAd): Promise<ShownAd | null> {
  for (let time = 0; time < TIMES_MAX && ad.frameIds.length > 0 && !session.ending.failure; time += 1) {
    const shown = await showFrameAt(session, ad).catch(() => null);
    if (shown) return shown;
  }
  return null;
}

/**
 * The frame that is shown where an ad was found: on a slow machine, a slot may refresh faster than its page is
 * searched. Null: no frame is there. Rejects when the page does not answer.
 */
async function showFrameAt(session: CaptureSession, ad: FoundAd): Promise<ShownAd | null> {
  const { block, tab } = ad;
  const { session: page } = tab.tab;
  const { y, height } = block;
  const deadlineMs = underLoad(session, ANSWER_MS);
  const scrolled = await evaluateInIsolatedWorld(page, page.targetId, scrollToMiddle, { y, height }, deadlineMs);
  const { start } = (await viewOf(session, tab)) ?? { start: { x: 0, y: 0 } };
  const box = { ...block, x: block.x - start.x - scrolled.x, y: block.y - start.y - scrolled.y };
  const frames = await measureFrames(session, page, { select: (all) => all, in: 'viewport' });
  const own = frames.filter((frame) => frame.box !== null && isSamePlace(frame.box, box));
  const [outermost] = own;
  if (!outermost?.box) return null;
  const element = await ownerOf(outermost, deadlineMs).catch(() => ad.element);
  const inPage = await ownerOf(topmostOf(frames, outermost), deadlineMs).catch(() => ad.inPage);
  return { ad: { ...ad, element, inPage, frameIds: own.map(({ frameId }) => frameId) }, box: outermost.box, frames };
}

/** The frame of the page's own document that a frame is, or is in. */
function topmostOf(frames: readonly MeasuredFrame[], frame: MeasuredFrame): MeasuredFrame {
  const [page] = frames;
  const parent = frames.find(({ frameId }) => frameId === frame.parentId);
  return parent && parent !== page ? topmostOf(frames, parent) : frame;
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
