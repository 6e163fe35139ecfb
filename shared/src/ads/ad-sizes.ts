/**
 * Fixed sizes in which display ads are sold, in CSS pixels (IAB New Ad Portfolio and its predecessors, MMA, Google Ad
 * Manager). They are in groups, because other parts of pages have some of them too: each use takes those that it can
 * tell from these.
 */
const SIZES = {
  /** Sold most; little else has them. */
  common:
    '120x600 160x600 180x150 200x200 250x250 300x50 300x250 300x600 300x1050 320x50 320x100 320x480 336x280 468x60 ' +
    '480x320 640x480 728x90 768x1024 970x90 970x250',
  /** Sold less; logos and badges have the small ones. */
  rare: '88x31 120x60 120x240 240x400 250x360 300x100 580x400 930x180 970x66 980x120 1024x768',
  /** Video players have it too. */
  video: '640x360',
  /** Buttons and squares of older guidelines, leaderboards of single countries; thumbnails and headers have them too. */
  minor: '120x90 125x125 234x60 320x320 400x300 950x90 960x90 980x90',
  /** Banners of early phones and large formats of single countries: only to be compared exactly, with frames. */
  exact: '120x20 168x28 168x42 216x36 216x54 300x31 550x480 970x400 980x240',
};

/** A set of sizes, each as `300x250`. */
export type AdSizes = ReadonlySet<string>;

/** The ad sizes of some groups. */
export const adSizes = (...groups: (keyof typeof SIZES)[]): AdSizes =>
  new Set(groups.flatMap((group) => SIZES[group].split(' ')));

/** Whether a box has one of these sizes, once its sides are rounded, give or take `tolerance` pixels. */
export function hasSizeOf(sizes: AdSizes, box: { width: number; height: number }, tolerance: number): boolean {
  const [width, height] = [Math.round(box.width), Math.round(box.height)];
  for (let x = -tolerance; x <= tolerance; x += 1)
    for (let y = -tolerance; y <= tolerance; y += 1) if (sizes.has(`${width + x}x${height + y}`)) return true;
  return false;
}
