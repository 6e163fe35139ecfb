import { note } from '@adsweep/shared/capture/notes.ts';
import { CAPTURE_URL_LENGTH_MAX } from '@adsweep/shared/limits.ts';
import { isolatedWorldOf } from '../devtools/isolated-world.ts';
import { type Content, readContents, readPlace } from '../page-scripts/read-contents.ts';
import { ANSWER_MS, underLoad } from '../session/budgets.ts';
import type { CaptureSession } from '../session/capture-session.ts';
import { type FrameAt, readFrames } from '../session/frames.ts';
import { isShown } from '../session/open-tabs.ts';
import type { Tab } from '../session/tab.ts';
import { clipUrl } from '../session/urls.ts';
import type { Collector } from './collector.ts';
import type { FramedObservation } from './framed-observations.ts';

/** Limits per document; content narrower or lower than `side` pixels is no ad. */
const LIMITS = { elements: 2_000, points: 3, side: 30, url: CAPTURE_URL_LENGTH_MAX };
/** Observations of this collector per capture, so that others fit in too. */
const PLACEMENTS_MAX = 30;

type Position = { x: number; y: number; width: number; height: number; opacity: number; isFixed: boolean };

/** The positions of frames that show something, and of images that are shown as a single pixel. */
export const placements: Collector = {
  name: 'placements',
  start: (capture) => async (draft) => {
    let left = PLACEMENTS_MAX;
    for (const { ord, tab } of capture.landings.numbered().filter(isShown)) {
      const seen = await placementsIn(capture, tab, ord);
      draft.observations.push(...seen.slice(0, left));
      if (seen.length > left)
        capture.notes.push(note('observations', { count: seen.length - left, collector: 'placements' }));
      left = Math.max(0, left - seen.length);
    }
  },
};

async function placementsIn(capture: CaptureSession, tab: Tab, landing: number | null): Promise<FramedObservation[]> {
  const deadlineMs = underLoad(capture, ANSWER_MS);
  const reading = { script: readContents, argument: LIMITS, deadlineMs };
  const { read, unread } = await readFrames(capture, tab.session, reading);
  if (unread > 0) capture.notes.push(note('collector_frames', { landing, count: unread, collector: 'placements' }));
  const [frames, contents] = [read.map(({ at }) => at), read.map(({ result }) => result)];
  const positionOf = positionsIn(frames, deadlineMs);
  const seen: FramedObservation[] = [];
  for (const [index, frame] of frames.entries()) {
    const { largest = null, points = [] } = contents[index] ?? {};
    const url = clipUrl(frame.url);
    const parent = frames.findIndex(({ frameId }) => frameId === frame.parentId);
    const place = largest && parent >= 0 ? await positionOf(frame) : null;
    // Where a frame is shown, and how, is up to the document around it.
    if (largest && place)
      seen.push({
        kind: 'placement',
        landing,
        url,
        facts: factsOf('frame', parent, place, largest),
        frameId: frame.parentId,
      });
    for (const { x, y, shown, ...image } of index === 0 ? points : []) {
      const at = { x, y, width: shown, height: shown, opacity: 1, isFixed: false };
      seen.push({ kind: 'placement', landing, url, facts: factsOf('image', 0, at, image), frameId: frame.frameId });
    }
  }
  return seen;
}

/** Finds the position of a frame in the page, through all its parent frames; null if it has none. */
function positionsIn(frames: FrameAt[], deadlineMs: number): (frame: FrameAt) => Promise<Position | null> {
  const known = new Map<string, Promise<Position | null>>();
  const find = async (frame: FrameAt): Promise<Position | null> => {
    const parent = frames.find(({ frameId }) => frameId === frame.parentId);
    if (!parent) return null;
    const own = await positionInParent(frame, parent, deadlineMs).catch(() => null);
    if (!own || parent.parentId === null) return own;
    const around = await positionOf(parent);
    const isFixed = own.isFixed || around?.isFixed === true;
    return (
      around && { ...own, x: own.x + around.x, y: own.y + around.y, opacity: own.opacity * around.opacity, isFixed }
    );
  };
  const positionOf = (frame: FrameAt): Promise<Position | null> => {
    const place = known.get(frame.frameId) ?? find(frame);
    known.set(frame.frameId, place);
    return place;
  };
  return positionOf;
}

/** The position of a frame in its parent document. */
async function positionInParent({ frameId }: FrameAt, parent: FrameAt, deadlineMs: number): Promise<Position | null> {
  const { session } = parent;
  const executionContextId = await isolatedWorldOf(session, parent.frameId, deadlineMs);
  const { backendNodeId } = await session.send('DOM.getFrameOwner', { frameId }, deadlineMs);
  const { object } = await session.send('DOM.resolveNode', { backendNodeId, executionContextId }, deadlineMs);
  if (!object.objectId) return null;
  const call = { objectId: object.objectId, functionDeclaration: String(readPlace), returnByValue: true };
  const { result } = await session.send('Runtime.callFunctionOn', call, deadlineMs);
  return (result.value as Position | undefined) ?? null;
}

const factsOf = (
  element: 'frame' | 'image',
  parent: number,
  { x, y, width, height, opacity, isFixed }: Position,
  { width: content_width, height: content_height, url }: Content,
) => ({
  element,
  parent,
  x: pixels(x),
  y: pixels(y),
  width: Math.abs(pixels(width)),
  height: Math.abs(pixels(height)),
  opacity: Math.min(1, Math.max(0, opacity)),
  content_width: Math.abs(pixels(content_width)),
  content_height: Math.abs(pixels(content_height)),
  content_url: url.toWellFormed(),
  ...(isFixed && { is_fixed: true }),
});

/** A length in whole pixels, within the bounds of an observation. */
const pixels = (length: number): number => Math.round(Math.min(10_000_000, Math.max(-10_000_000, length)));
