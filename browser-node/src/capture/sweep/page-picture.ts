import { CREATIVE_SCREENSHOT, landingScreenshot } from '@adsweep/shared/capture/artifacts.ts';
import { SUBJECT_ORD } from '@adsweep/shared/capture/capture.ts';
import sharp, { type OverlayOptions } from 'sharp';
import type { Box } from '../box.ts';
import type { Draft } from '../collectors/collector.ts';
import type { FoundAd } from '../discovery/found-ad.ts';
import type { CaptureFile } from '../session/capture-outcome.ts';
import type { CaptureSession } from '../session/capture-session.ts';
import { StoredFile } from '../session/stored-file.ts';
import type { KeptAd } from './keep-ads.ts';

/** Pixels of the largest screenshot that ads are put into: each takes seven bytes of memory meanwhile. */
const PIXELS_MAX = 24_000_000;
const SECONDS_MAX = 10;
/** As that of Chromium's JPEGs: it is encoded once more when it is read. */
const QUALITY = 90;
/** CSS pixels by which the place of an ad in its screenshot may differ from that of its block. */
const MARGIN = 4;

/** An ad of a page with what was kept of it. */
type KeptOnPage = { ad: FoundAd; kept: KeptAd };

/**
 * Puts the pictures of ads into the screenshot of their page. Chromium draws a frame of another site only where it is
 * in view, so that most ads of such frames are blank in it; a screenshot of each was taken in view, at the same place
 * of the page. Never throws: the screenshot stays as it is if it cannot be read.
 */
export async function drawAdsOnPage(
  { logger, notes }: CaptureSession,
  { files }: Draft,
  ads: readonly KeptOnPage[],
): Promise<void> {
  const page = files.find(({ name }) => name === landingScreenshot(SUBJECT_ORD));
  const isWhole = notes.every(({ kind, landing }) => kind !== 'picture_part' || landing !== SUBJECT_ORD);
  if (!page || !isWhole || page.width * page.height > PIXELS_MAX) return;
  try {
    const overlays = (await Promise.all(ads.map((one) => overlayOf(one, page)))).filter((one) => one !== null);
    if (overlays.length === 0) return;
    const drawn = sharp(await bytesOf(page))
      .composite(overlays)
      .jpeg({ quality: QUALITY });
    page.bytes = await drawn.timeout({ seconds: SECONDS_MAX }).toBuffer();
  } catch (cause) {
    logger.info({ cause }, 'the ads could not be drawn on the screenshot of their page');
  }
}

/**
 * The picture of an ad with its place in that of its page; null: the page's own picture shows it, or the ad was
 * elsewhere when its screenshot was taken.
 */
async function overlayOf({ ad: { block }, kept }: KeptOnPage, page: CaptureFile): Promise<OverlayOptions | null> {
  const picture = kept.files.find(({ name }) => name === CREATIVE_SCREENSHOT);
  const { framedAt: at } = kept;
  if (!picture || !at || !isIn(at, block)) return null;
  const ratio = picture.width / at.width;
  const [left, top] = [Math.round(at.x * ratio), Math.round(at.y * ratio)];
  const isInside = left >= 0 && top >= 0 && left + picture.width <= page.width && top + picture.height <= page.height;
  return isInside ? { input: await bytesOf(picture), left, top } : null;
}

const isIn = (inner: Box, outer: Box): boolean =>
  inner.x >= outer.x - MARGIN &&
  inner.y >= outer.y - MARGIN &&
  inner.x + inner.width <= outer.x + outer.width + MARGIN &&
  inner.y + inner.height <= outer.y + outer.height + MARGIN;

async function bytesOf({ bytes }: CaptureFile): Promise<Buffer> {
  return bytes instanceof StoredFile ? Buffer.from(await (await bytes.content()).arrayBuffer()) : Buffer.from(bytes);
}
