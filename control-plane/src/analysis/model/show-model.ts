import type { Logger } from '@adsweep/shared/service/logger.ts';
import type { CrawlingDomain } from '../../crawling/crawling.ts';
import type { ScanRecord } from '../../scan/scan.ts';
import type { PictureOf } from '../../scanning/artifacts/artifact.ts';
import type { PicturePool } from '../../scanning/artifacts/picture-pool.ts';
import { type ModelEvidence, type ModelSubject, modelEvidence } from './model-evidence.ts';

/** Prepares what a model is shown of a scan: `judged`, which lacks the domains that the scan skips, and a screenshot. */
export type ShowModel = (scan: ScanRecord, judged: ModelSubject) => Promise<ModelEvidence>;

/** A screenshot of a scan in the size for a model; null: there is none. */
export type ScreenshotFor = (scan: ScanRecord, of: PictureOf) => Promise<Buffer | null>;

/** `screenshotFor` null: the model gets no screenshots. */
export function showModel(screenshotFor: ScreenshotFor | null): ShowModel {
  return async (scan, judged) => {
    const subject = judged.landings[0]?.ord ?? (judged.creative ? 'creative' : null);
    const screenshot = screenshotFor && subject !== null ? await screenshotFor(scan, subject) : null;
    return modelEvidence(judged, screenshot);
  };
}

/** Width in pixels; a tall page is cut at two and a half times its width. */
const SIZE = { width: 768, isWhole: false };
const RESIZE_MS = 30_000;

/** Reads screenshots and resizes them for a model. A screenshot that cannot be resized is left out. */
export function screenshots(
  openPicture: CrawlingDomain['verbs']['openPicture'],
  pictures: Pick<PicturePool, 'resize'>,
  logger: Logger,
): ScreenshotFor {
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
