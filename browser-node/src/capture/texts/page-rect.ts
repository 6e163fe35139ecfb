/** A part of a page, in CSS pixels. */
export type Rect = { left: number; top: number; right: number; bottom: number };
/** What is narrower or lower is not seen. */
const [WIDTH_MIN, HEIGHT_MIN] = [2, 3];
export const EVERYWHERE: Rect = { left: -1e9, top: -1e9, right: 1e9, bottom: 1e9 };
export const NOWHERE: Rect = { left: 0, top: 0, right: 0, bottom: 0 };
export const intersect = (a: Rect, b: Rect): Rect => ({
  left: Math.max(a.left, b.left),
  top: Math.max(a.top, b.top),
  right: Math.min(a.right, b.right),
  bottom: Math.min(a.bottom, b.bottom),
});
export const isSeen = ({ left, top, right, bottom }: Rect): boolean =>
  right - left >= WIDTH_MIN && bottom - top >= HEIGHT_MIN;
export const contains = (a: Rect, b: Rect): boolean =>
  a.left <= b.left + 1 && a.top <= b.top + 1 && a.right >= b.right - 1 && a.bottom >= b.bottom - 1;
export const rectOf = ([x = 0, y = 0, width = 0, height = 0]: number[]): Rect => {
  return { left: x, top: y, right: x + width, bottom: y + height };
};

/**
 * Where the content of a box can be seen: within what it clips, and anywhere within what it scrolls, if it is seen
 * itself.
 */
export function clipOf(own: Rect, box: Rect, overflowX: string, overflowY: string): Rect {
  const clips = (overflow: string) => overflow === 'hidden' || overflow === 'clip';
  const scrolls = (overflow: string) => overflow === 'auto' || overflow === 'scroll';
  const within = intersect(own, box);
  const base = scrolls(overflowX) || scrolls(overflowY) ? (isSeen(within) ? EVERYWHERE : NOWHERE) : own;
  const x = clips(overflowX) ? within : base;
  const y = clips(overflowY) ? within : base;
  return { left: x.left, right: x.right, top: y.top, bottom: y.bottom };
}

/** Whether nothing is left of a box, by its `clip-path` or `clip`. */
export function isCutAway(clipPath: string, clip: string): boolean {
  if (/^(inset\((?:[5-9]\d|100)(?:\.\d+)?%|circle\(0|ellipse\(0)/.test(clipPath)) return true;
  const [top, right, bottom, left] = (clip.match(/-?[\d.]+(?=px)/g) ?? []).map(Number);
  if (top === undefined || right === undefined || bottom === undefined || left === undefined) return false;
  return right - left < WIDTH_MIN || bottom - top < HEIGHT_MIN;
}
