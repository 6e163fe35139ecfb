import { adSizes, hasSizeOf } from '@adsweep/shared/ads/ad-sizes.ts';
import { areaOf, type Box, intersectionOf, sharedArea, unionOf } from '../box.ts';
import type { Visual } from '../page-scripts/measure-visuals.ts';
import { isOfServer } from '../session/urls.ts';

/**
 * A frame of a tab as it was measured. `box`: where the tab shows it, in CSS pixels of the tab's page; null: nowhere.
 * `visuals`: its own content without its child frames, in the same pixels.
 */
export type SeenFrame = { frameId: string; parentId: string | null; url: string; box: Box | null; visuals: Visual[] };
/** Where a creative is: the innermost frame that shows it, and its box in the tab's page. */
export type CreativePlace = { frameId: string; box: Box };

/** The rare sizes are those of logos too, which are on many pages with a creative. */
const STANDARD_SIZES = adSizes('common', 'video');
/** A frame that covers this share of what is shown is the one that shows the creative. */
const DOMINANT = 0.5;
/** Anything with fewer pixels than this is a tracking pixel. */
const AREA_MIN = 64;

/**
 * The creative in the frame `rootId`; null: nothing is rendered. It is everything that the frame shows, or the child
 * frame that covers most of it, in which the search goes on. `isPage`: the frame holds a page with other content too,
 * so an element of an ad's size is preferred. Pure.
 */
export function chooseCreative(frames: readonly SeenFrame[], rootId: string, isPage: boolean): CreativePlace | null {
  const root = frames.find(({ frameId }) => frameId === rootId);
  return root ? placeIn(frames, root, isPage, 0) : null;
}

type Part = { box: Box; inner: CreativePlace | null };

function placeIn(frames: readonly SeenFrame[], frame: SeenFrame, isPage: boolean, depth: number): CreativePlace | null {
  if (depth > 10) return null;
  const parts = [
    ...frame.visuals.map(({ x, y, width, height }): Part => ({ box: { x, y, width, height }, inner: null })),
    ...framesIn(frames, frame, depth),
  ];
  const shown = parts.flatMap((part) => {
    const box = frame.box ? intersectionOf(part.box, frame.box) : part.box;
    return box && areaOf(box) >= AREA_MIN ? [{ ...part, box }] : [];
  });
  const largest = shown.toSorted((a, b) => areaOf(b.box) - areaOf(a.box));
  const adSized = isPage ? largest.find(({ box }) => hasStandardSize(box)) : undefined;
  const whole = adSized?.box ?? unionOf(shown.map(({ box }) => box));
  if (!whole) return null;
  const dominant = largest.find(({ inner, box }) => inner && sharedArea(box, whole) >= DOMINANT * areaOf(whole));
  if (!dominant?.inner) return { frameId: frame.frameId, box: whole };
  return {
    frameId: dominant.inner.frameId,
    box: contentOrFrameBox(adSized ? whole : dominant.box, dominant.inner.box),
  };
}

/** The child frames that show something. */
function framesIn(frames: readonly SeenFrame[], { frameId }: SeenFrame, depth: number): Part[] {
  return frames.flatMap((child) => {
    if (child.parentId !== frameId || !child.box) return [];
    const inner = placeIn(frames, child, false, depth + 1);
    return inner ? [{ box: child.box, inner }] : [];
  });
}

/**
 * The content box if it fills the frame or has an ad size; else the frame's, for example if the content is a line of
 * text.
 */
const contentOrFrameBox = (frame: Box, content: Box): Box =>
  hasStandardSize(content) || areaOf(content) >= DOMINANT * areaOf(frame) ? content : frame;

const hasStandardSize = (box: Box): boolean => hasSizeOf(STANDARD_SIZES, box, 1);

/** The frame and its ancestors, from the innermost up. Pure. */
export function pathOf(frames: readonly SeenFrame[], frameId: string): SeenFrame[] {
  const path: SeenFrame[] = [];
  for (
    let at = frames.find((one) => one.frameId === frameId);
    at;
    at = frames.find((one) => one.frameId === at?.parentId)
  ) {
    if (path.includes(at)) break;
    path.push(at);
  }
  return path;
}

/**
 * The innermost frame of a path that has a URL of its own: an empty document belongs to its parent, and so does one
 * that the parent wrote, which takes over the parent's URL (HTML, `document.open`). Pure.
 */
export const innermostWithUrl = (path: readonly SeenFrame[]): SeenFrame | undefined =>
  path.find(({ url }, at) => isOfServer(url) && !path.slice(at + 1).some((outer) => outer.url === url)) ?? path.at(-1);
