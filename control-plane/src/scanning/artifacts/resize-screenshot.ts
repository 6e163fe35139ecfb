import { PICTURE_PIXELS_MAX, SCREENSHOT_CROP_RATIO } from '@adsweep/shared/limits.ts';
import sharp from 'sharp';

export type Size = { width: number; height: number };

/** How a picture is asked for: its width in pixels, null = as it is; and whether it is never cut. */
export type WantedSize = { width: number | null; isWhole: boolean };

/**
 * The size a screenshot is served in: never larger than it is, and, unless it `isWhole`, cut at the foot where it would be higher than 2.5
 * times its width (spec 4.3). `sourceHeight` says how much of the original is shown.
 */
export function resizedSize(original: Size, { width, isWhole }: WantedSize): Size & { sourceHeight: number } {
  if (width === null) return { ...original, sourceHeight: original.height };
  const shown = Math.min(width, original.width);
  const scale = shown / original.width;
  const heightMax = isWhole ? Number.POSITIVE_INFINITY : Math.floor(shown * SCREENSHOT_CROP_RATIO);
  const height = Math.min(Math.max(1, Math.round(original.height * scale)), heightMax);
  return { width: shown, height, sourceHeight: Math.min(original.height, Math.max(1, Math.round(height / scale))) };
}

/** Seconds that one picture may take. */
const RESIZE_SECONDS = 10;
/** How hard the encoder tries, 0 to 6. */
const RESIZED_EFFORT = 4;
const WHOLE_EFFORT = 2;

/** A WebP screenshot of `original` size as {@link resizedSize} says. Rejects for what is no picture of that size. */
export async function resizeScreenshot(bytes: Buffer, original: Size, wanted: WantedSize): Promise<Buffer> {
  const size = resizedSize(original, wanted);
  return sharp(bytes, { limitInputPixels: PICTURE_PIXELS_MAX })
    .extract({ left: 0, top: 0, width: original.width, height: size.sourceHeight })
    .resize({ width: size.width, height: size.height, fit: 'fill' })
    .webp({ quality: 80, effort: wanted.width === null ? WHOLE_EFFORT : RESIZED_EFFORT })
    .timeout({ seconds: RESIZE_SECONDS })
    .toBuffer();
}
