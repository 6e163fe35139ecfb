import type { Logger } from '@adsweep/shared/service/logger.ts';
import type { CrawlingDomain } from '../../crawling/crawling.ts';
import type { PicturePool } from '../../scanning/artifacts/picture-pool.ts';
import type { ShowParts } from './show-model.ts';

/** Width in pixels; a tall page is cut at two and a half times of it. */
const SIZE = { width: 768, isWhole: false };
const RESIZE_MS = 30_000;

/** Screenshots as a model is shown them. One that cannot be had is left out. */
export function modelPicture(
  openPicture: CrawlingDomain['verbs']['openPicture'],
  pictures: Pick<PicturePool, 'resize'>,
  logger: Logger,
): NonNullable<ShowParts['pictureOf']> {
  return async (scan, of) => {
    const picture = await openPicture(scan, of);
    if (!picture) return null;
    const { artifact, stream } = picture;
    try {
      return await pictures.resize({ ...artifact, open: () => stream }, SIZE, AbortSignal.timeout(RESIZE_MS));
    } catch (cause) {
      logger.warn({ scan_id: scan._id, cause }, 'a screenshot could not be prepared for the model');
      return null;
    } finally {
      stream.destroy();
    }
  };
}
