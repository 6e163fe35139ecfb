import { findAgain } from '../discovery/find-ads.ts';
import type { FoundAd } from '../discovery/found-ad.ts';
import type { MeasuredFrame } from '../harness/measure-frames.ts';
import type { Box } from '../page-scripts/measure-visuals.ts';
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
    if (!again) return box && { ad: at, box, frames };
    at = again;
  }
  return null;
}
