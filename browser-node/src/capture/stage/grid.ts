import type { Box } from '../page-scripts/measure-visuals.ts';
import type { Point } from './follow-click.ts';

/** As many points as a grid has at the most, and pixels between two of them at the least: arrows are seldom smaller than twice that. */
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

/** The middle of what is in view of a box, null where nothing is. Pure. */
export function centreOf(box: Box, view: { width: number; height: number }): Point | null {
  const [left, top] = [Math.max(box.x, 0), Math.max(box.y, 0)];
  const [right, bottom] = [Math.min(box.x + box.width, view.width), Math.min(box.y + box.height, view.height)];
  return right > left && bottom > top ? { x: (left + right) / 2, y: (top + bottom) / 2 } : null;
}
