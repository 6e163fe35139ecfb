import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from '@adsweep/shared/service/logger.ts';
import type { CrawlingDomain } from '../../crawling/crawling.ts';
import { QueueFull } from '../../platform/bounded-queue.ts';
import { ObjectsUnavailable } from '../../platform/objects/object-store.ts';
import type { ScanRecord } from '../../scan/scan.ts';
import type { PictureOf } from '../../scanning/artifacts/artifact.ts';
import type { PicturePool } from '../../scanning/artifacts/picture-pool.ts';
import type { WantedSize } from '../../scanning/artifacts/resize-screenshot.ts';
import { type ModelEvidence, type ModelSubject, modelEvidence } from './model-evidence.ts';

/**
 * Prepares what a model is shown of a scan: `judged`, which lacks the domains that the scan skips, and a screenshot.
 */
export type ShowModel = (scan: ScanRecord, judged: ModelSubject) => Promise<ModelEvidence>;

/**
 * A screenshot of a scan in the size for a model; null: there is none; `failed`: there is one, and it could not be
 * resized.
 */
export type ScreenshotFor = (scan: ScanRecord, of: PictureOf) => Promise<Buffer | null | 'failed'>;

/** `screenshotFor` null: the model gets no screenshots. */
export function showModel(screenshotFor: ScreenshotFor | null): ShowModel {
  return async (scan, judged) => {
    const subject = judged.landings[0]?.ord ?? (judged.creative ? 'creative' : null);
    const screenshot = screenshotFor && subject !== null ? await screenshotFor(scan, subject) : null;
    return screenshot === 'failed'
      ? { ...modelEvidence(judged, null), lacksScreenshot: true }
      : modelEvidence(judged, screenshot);
  };
}

/** Width in pixels; a tall page is cut at two and a half times its width. */
const SIZE = { width: 768, isWhole: false };
const RESIZE_MS = 30_000;
/** A queue that is full of other scans' pictures is tried again after this time. */
const AGAIN_MS = 500;

/**
 * Reads screenshots and resizes them, by default for a model. They throw {@link ObjectsUnavailable} while the files
 * cannot be reached.
 */
export function screenshots(
  findPicture: CrawlingDomain['verbs']['findPicture'],
  pictures: Pick<PicturePool, 'resize'>,
  logger: Logger,
  size: WantedSize = SIZE,
): ScreenshotFor {
  return async (scan, of) => {
    const picture = await findPicture(scan, of);
    if (!picture) return null;
    const signal = AbortSignal.timeout(RESIZE_MS);
    try {
      return await whenFree(() => pictures.resize(picture, size, signal), signal);
    } catch (cause) {
      if (cause instanceof ObjectsUnavailable) throw cause;
      logger.warn({ scan_id: scan._id, cause }, 'a screenshot could not be resized for the analysis');
      return 'failed';
    }
  };
}

async function whenFree<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
  while (true) {
    try {
      return await work();
    } catch (cause) {
      if (!(cause instanceof QueueFull)) throw cause;
      await pause(AGAIN_MS, undefined, { signal });
    }
  }
}
