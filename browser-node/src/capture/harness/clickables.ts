import { setTimeout } from 'node:timers/promises';
import type { Box } from '../box.ts';
import { evaluateInWorld } from '../devtools/isolated-world.ts';
import { findClickable } from '../page-scripts/find-clickable.ts';
import { ANSWER_MS, LATE_CLICKABLE_MS, underLoad } from '../session/budgets.ts';
import type { CaptureSession } from '../session/capture-session.ts';
import type { Point } from '../session/visitor-click.ts';
import { type CreativePage, hasNavigatedAway } from './harness-page.ts';
import { type MeasuredFrame, noteThrown } from './measure-frames.ts';

const LOOK_EVERY_MS = 250;

/**
 * An element that looks clickable: a point on it, a label such as `button#next`, and a key that is unique in the tab.
 */
export type Clickable = Point & { label: string; key: string };

/** What can be clicked, with the frames of the tab as they were measured for it. */
export type Clickables = { frames: readonly MeasuredFrame[]; points: readonly Clickable[] };

/**
 * What `look` finds clickable; if that is nothing, as soon as it finds something: a picture may load late, and a call
 * to action may come at the end of an animation. Resolves to nothing clickable after a while.
 */
export async function awaitClickables(
  session: CaptureSession,
  page: CreativePage,
  look: () => Promise<Clickables>,
): Promise<Clickables> {
  const until = performance.now() + underLoad(session, LATE_CLICKABLE_MS);
  for (;;) {
    const found = await look();
    if (found.points.length > 0 || performance.now() > until || session.ending.failure || hasNavigatedAway(page))
      return found;
    await session.ending.race(setTimeout(LOOK_EVERY_MS));
  }
}

/** The elements that look clickable under these points of a tab, each once, with the middle one of its points. */
export async function clickablesUnder(
  captureSession: CaptureSession,
  frames: readonly MeasuredFrame[],
  points: readonly Point[],
): Promise<Clickable[]> {
  const byFrame = Map.groupBy(points, (point) => frameUnder(frames, point));
  const found = await Promise.all(
    [...byFrame].map(async ([frame, own]) => (frame ? clickablesIn(captureSession, frame, own) : [])),
  );
  return found.flat();
}

async function clickablesIn(
  captureSession: CaptureSession,
  frame: MeasuredFrame,
  points: Point[],
): Promise<Clickable[]> {
  const { x, y } = frame.box ?? { x: 0, y: 0 };
  const inside = points.map((point) => ({ x: (point.x - x) / frame.scale, y: (point.y - y) / frame.scale }));
  const { world } = frame;
  if (world === null) return [];
  const deadlineMs = underLoad(captureSession, ANSWER_MS);
  const finding = evaluateInWorld(frame.at.session, world, findClickable, { points: inside }, deadlineMs);
  // A frame that was removed has nothing to click.
  const hits = (await finding.catch((cause) => noteThrown(captureSession, cause))) ?? [];
  const hit = points.flatMap((point, index) => {
    const at = hits[index];
    return at ? [{ ...point, ...at }] : [];
  });
  return [...Map.groupBy(hit, ({ element }) => element)].map(([element, own]) => {
    const { x: left, y: top, label } = own[Math.floor(own.length / 2)] as (typeof own)[number];
    return { x: left, y: top, label, key: `${frame.frameId} ${world} ${element}` };
  });
}

type Framed = { box: Box | null; parentId: string | null };

/** The innermost frame that is shown at a point: in `frames`, children come after their parents. Pure. */
export const frameUnder = <F extends Framed>(frames: readonly F[], point: Point): F | undefined =>
  framesAround(frames, point).at(-1);

/** The frames that are shown at a point, the tab's own first. Pure. */
export const framesAround = <F extends Framed>(frames: readonly F[], { x, y }: Point): F[] =>
  frames.filter(
    ({ box, parentId }) =>
      parentId === null || (box && x >= box.x && x < box.x + box.width && y >= box.y && y < box.y + box.height),
  );

/** The most points of a grid, and the fewest pixels between two of them: arrows are seldom smaller than twice that. */
const POINTS_MAX = 1_200;
const STEP_MIN = 6;

/** A grid of points over the part of a box that is in view, row by row. Pure. */
export function gridOver(box: Box, view: { width: number; height: number }): Point[] {
  const right = Math.min(box.x + box.width, view.width);
  const bottom = Math.min(box.y + box.height, view.height);
  const [left, top] = [Math.max(box.x, 0), Math.max(box.y, 0)];
  const [width, height] = [right - left, bottom - top];
  if (width <= 0 || height <= 0) return [];
  const step = Math.max(STEP_MIN, Math.sqrt((width * height) / POINTS_MAX));
  const count = (length: number) => Math.max(1, Math.floor(length / step));
  const at = (from: number, length: number) =>
    Array.from({ length: count(length) }, (_, index) => from + (length * (index + 0.5)) / count(length));
  return at(top, height).flatMap((y) => at(left, width).map((x) => ({ x, y })));
}

/** The centre of the part of a box that is in view; null: none is. Pure. */
export function centreOf(box: Box, view: { width: number; height: number }): Point | null {
  const [left, top] = [Math.max(box.x, 0), Math.max(box.y, 0)];
  const [right, bottom] = [Math.min(box.x + box.width, view.width), Math.min(box.y + box.height, view.height)];
  return right > left && bottom > top ? { x: (left + right) / 2, y: (top + bottom) / 2 } : null;
}
