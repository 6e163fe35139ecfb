import { PICTURE_PIXELS_MAX, WEBP_SIDE_MAX } from '@adsweep/shared/limits.ts';

/**
 * The part of a page that its picture shows, from the top left, in CSS pixels: as far as a WebP picture has sides and we take pixels.
 * `ratio`: device pixels per CSS pixel.
 */
export function picturedPart(page: { width: number; height: number; ratio: number }) {
  const { ratio } = page;
  const longest = Math.floor(WEBP_SIDE_MAX / ratio);
  const width = Math.min(page.width, longest);
  // Broken device pixels are rounded up.
  const inPixels = Math.floor(Math.floor(PICTURE_PIXELS_MAX / Math.ceil(width * ratio)) / ratio);
  const height = Math.min(page.height, longest, inPixels);
  return { x: 0, y: 0, width, height };
}
