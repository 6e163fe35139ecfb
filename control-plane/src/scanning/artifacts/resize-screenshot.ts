import { PICTURE_PIXELS_MAX, SCREENSHOT_CROP_RATIO } from '@adsweep/shared/limits.ts';
import sharp from 'sharp';

export type Size = { width: number; height: number };

/**
 * A requested size: the width in pixels, null: the original one; `isWhole`: the picture is not cropped; `isJpeg`: for
 * programs without WebP.
 */
export type WantedSize = { width: number | null; isWhole: boolean; isJpeg?: boolean };

/**
 * The size in which a screenshot is served: never larger than the original and, unless it `isWhole`, cropped at the
 * bottom to a height of at most 2.5 times its width (spec 4.3). `sourceHeight`: how much of the original is shown.
 */
export function resizedSize(original: Size, { width, isWhole }: WantedSize): Size & { sourceHeight: number } {
  if (width === null) return { ...original, sourceHeight: original.height };
  const shown = Math.min(width, original.width);
  const scale = shown / original.width;
  const heightMax = isWhole ? Number.POSITIVE_INFINITY : Math.floor(shown * SCREENSHOT_CROP_RATIO);
  const height = Math.min(Math.max(1, Math.round(original.height * scale)), heightMax);
  return { width: shown, height, sourceHeight: Math.min(original.height, Math.max(1, Math.round(height / scale))) };
}

/** Time limit for one picture, in seconds: a tall page takes one or two, and longer on a busy machine. */
const RESIZE_SECONDS = 20;
/** Effort of the WebP encoder, from 0 to 6. */
const RESIZED_EFFORT = 4;
const WHOLE_EFFORT = 2;

/**
 * Whether a resize that failed after `elapsedMs` had exceeded its time limit. libvips keeps one list of messages for
 * all threads, so that the message of an error may be that of another picture, or empty. Pure.
 */
export const isLate = (elapsedMs: number): boolean => elapsedMs >= RESIZE_SECONDS * 1_000;

/**
 * Resizes a screenshot of `original` size to {@link resizedSize}; returns WebP, or a JPEG. Rejects if the bytes are not
 * a picture of that size.
 */
export async function resizeScreenshot(bytes: Buffer, original: Size, wanted: WantedSize): Promise<Buffer> {
  const size = resizedSize(original, wanted);
  const resized = sharp(bytes, { limitInputPixels: PICTURE_PIXELS_MAX })
    .extract({ left: 0, top: 0, width: original.width, height: size.sourceHeight })
    .resize({ width: size.width, height: size.height, fit: 'fill' });
  const encoded = wanted.isJpeg
    ? resized.flatten({ background: '#ffffff' }).jpeg({ quality: 80 })
    : resized.webp({ quality: 80, effort: wanted.width === null ? WHOLE_EFFORT : RESIZED_EFFORT });
  return encoded.timeout({ seconds: RESIZE_SECONDS }).toBuffer();
}
