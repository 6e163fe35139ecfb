import type { Logger } from '@adsweep/shared/service/logger.ts';
import { QueueFull } from '../../platform/bounded-queue.ts';
import type { ScanRecord } from '../../scan/scan.ts';
import type { FoundPicture, PictureOf } from './artifact.ts';
import type { PicturePool } from './picture-pool.ts';

type Parts = {
  findPicture: (scan: ScanRecord, of: PictureOf) => Promise<FoundPicture | null>;
  pictures: Pick<PicturePool, 'resize'>;
  logger: Logger;
};

/** Width in pixels of a picture in a message. */
const SIZE = { width: 600, isWhole: false, isJpeg: true };
const RESIZE_MS = 20_000;

/**
 * The picture of a scan for a message, as a JPEG: the creative, or else the page; null: there is none, or it cannot be
 * read. Throws {@link QueueFull} while too many pictures are being resized, which a stranger with a report's link can
 * cause.
 */
export async function messagePicture(
  { findPicture, pictures, logger }: Parts,
  scan: ScanRecord,
): Promise<Buffer | null> {
  const picture = (await findPicture(scan, 'creative')) ?? (await findPicture(scan, 'page'));
  if (!picture) return null;
  try {
    return await pictures.resize(picture, SIZE, AbortSignal.timeout(RESIZE_MS));
  } catch (cause) {
    if (cause instanceof QueueFull) throw cause;
    logger.warn({ scan_id: scan._id, cause }, 'a picture could not be prepared for a message');
    return null;
  }
}
