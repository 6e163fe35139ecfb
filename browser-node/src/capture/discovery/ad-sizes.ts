import type { Box } from '../box.ts';

/** Fixed sizes of ads in pixels (IAB, Google Ad Manager). */
const SIZES: ReadonlySet<string> = new Set([
  ...['88x31', '120x60', '120x90', '120x240', '120x600', '125x125', '160x600', '180x150', '200x200', '234x60'],
  ...['240x400', '250x250', '250x360', '300x50', '300x100', '300x250', '300x600', '300x1050', '320x50', '320x100'],
  ...['320x320', '320x480', '336x280', '400x300', '468x60', '480x320', '580x400', '640x360', '640x480', '728x90'],
  ...['768x1024', '930x180', '950x90', '960x90', '970x66', '970x90', '970x250', '980x120', '980x90', '1024x768'],
]);

/** Whether a box has a usual size of ads, give or take a pixel. */
export function isAdSize({ width, height }: Box): boolean {
  const [wide, high] = [Math.round(width), Math.round(height)];
  for (const x of [0, -1, 1, -2, 2])
    for (const y of [0, -1, 1, -2, 2]) if (SIZES.has(`${wide + x}x${high + y}`)) return true;
  return false;
}
