/** A rectangle in CSS pixels, by its top left corner. */
export type Box = { x: number; y: number; width: number; height: number };

export const areaOf = (box: Box | null): number => (box ? Math.max(0, box.width) * Math.max(0, box.height) : 0);

/** What two boxes share; null: nothing. */
export function intersectionOf(a: Box, b: Box): Box | null {
  const [x, y] = [Math.max(a.x, b.x), Math.max(a.y, b.y)];
  const width = Math.min(a.x + a.width, b.x + b.width) - x;
  const height = Math.min(a.y + a.height, b.y + b.height) - y;
  return width > 0 && height > 0 ? { x, y, width, height } : null;
}

/** The area that two boxes share. */
export const sharedArea = (a: Box, b: Box): number => areaOf(intersectionOf(a, b));

/** The smallest box around all of some; null: there are none. */
export function unionOf(boxes: readonly Box[]): Box | null {
  if (boxes.length === 0) return null;
  const x = Math.min(...boxes.map((box) => box.x));
  const y = Math.min(...boxes.map((box) => box.y));
  const right = Math.max(...boxes.map((box) => box.x + box.width));
  const bottom = Math.max(...boxes.map((box) => box.y + box.height));
  return { x, y, width: right - x, height: bottom - y };
}
