import { CONTENT_TYPES, landingScreenshot, PAGE_SCREENSHOT } from '@adsweep/shared/capture/artifacts.ts';
import { SUBJECT_ORD } from '@adsweep/shared/capture/capture.ts';
import { note } from '@adsweep/shared/capture/notes.ts';
import { jpegSize } from '@adsweep/shared/capture/picture-size.ts';
import { PICTURE_PIXELS_MAX, WEBP_SIDE_MAX } from '@adsweep/shared/limits.ts';
import { COMMAND_MS } from '../devtools/devtools.ts';
import { evaluateInIsolatedWorld } from '../devtools/isolated-world.ts';
import { type PageSize, scrollThrough } from '../page-scripts/scroll-through.ts';
import { SCREENSHOT_HEIGHT_MAX, SCREENSHOT_MS, SCROLL_MS, underLoad } from '../session/budgets.ts';
import type { CaptureSession, MemberCapture } from '../session/capture-session.ts';
import type { Landing } from '../session/landings.ts';
import { isShown, type OpenTab } from '../session/open-tabs.ts';
import type { Collector } from './collector.ts';

/**
 * Encoding WebP in the browser was 39 % of a capture's CPU time, JPEG half of that. It is encoded again as WebP when it
 * is read, so its quality is higher.
 */
const JPEG = { format: 'jpeg', quality: 90 } as const;

/** A screenshot of each landing: the whole page, up to the maximum size of a WebP image. */
export const screenshots: Collector = {
  name: 'screenshots',
  start: (capture) => async (draft) => {
    for (const landing of capture.landings.shown()) {
      const captured = draft.landings.find(({ ord }) => ord === landing.ord);
      if (!captured) continue;
      const bytes = await screenshotOf(capture, landing);
      // A side beyond WebP's maximum gives an empty image and no error.
      const size = bytes && jpegSize(bytes);
      if (!size) continue;
      captured.screenshot = landingScreenshot(landing.ord);
      draft.files.push({ name: captured.screenshot, contentType: CONTENT_TYPES.jpeg, bytes, ...size });
    }
    // Windows that opened after the landings had been counted.
    const late = capture.landings.all.filter(({ ord }) => draft.landings.every((one) => one.ord !== ord));
    if (late.length > 0) capture.notes.push(note('landings', { count: late.length }));
  },
};

/** A tab whose screenshot cannot be taken must not cost those of other tabs. */
async function screenshotOf(capture: MemberCapture, landing: Landing): Promise<Buffer | null> {
  try {
    return await takeScreenshot(capture, landing);
  } catch (cause) {
    capture.logger.info({ cause, landing: landing.ord }, 'no screenshot could be taken');
    return null;
  }
}

/** The whole page of a tab as JPEG, up to the maximum size of a WebP image; else the viewport. */
async function takeScreenshot(capture: MemberCapture, landing: OpenTab & { ord?: number }): Promise<Buffer> {
  try {
    const size = await sizeOf(capture, landing);
    if (size.isEmpty) return await screenshotOfView(landing);
    if (size.isCutOff) capture.notes.push(note('picture_part', { landing: landing.ord ?? null }));
    if (size.height <= SCREENSHOT_HEIGHT_MAX) return await screenshotOfPage(capture, landing, size);
    capture.notes.push(note('picture_part', { landing: landing.ord ?? null }));
  } catch (cause) {
    capture.logger.info({ cause }, 'no full-page screenshot could be taken');
    capture.notes.push(note('picture_part', { landing: landing.ord ?? null }));
    await landing.tab.stopScript();
  }
  return screenshotOfView(landing);
}

/** The size of the page that a tab shows. Rejects when it does not answer. */
function sizeOf(capture: MemberCapture, { tab: { session } }: OpenTab): Promise<PageSize> {
  const notScrolling = { screens: 0, heightMax: 0, keepsPlaces: true };
  const deadlineMs = underLoad(capture, SCROLL_MS);
  return evaluateInIsolatedWorld(session, session.targetId, scrollThrough, notScrolling, deadlineMs);
}

function screenshotOfPage(capture: CaptureSession, { page, tab }: OpenTab, size: PageSize): Promise<Buffer> {
  const view = page.viewportSize();
  const beyondView = !view || size.width > view.width || size.height > view.height;
  const part = { clip: screenshotClip(size), beyondView, quality: JPEG.quality };
  return capture.open.screenshot(tab.session.targetId, part, underLoad(capture, SCREENSHOT_MS));
}

/** A screenshot of the viewport. */
async function screenshotOfView({ tab }: OpenTab): Promise<Buffer> {
  const { data } = await tab.session.send('Page.captureScreenshot', JPEG, COMMAND_MS);
  return Buffer.from(data, 'base64');
}

/**
 * The screenshot of the harness page. It is the scan's screenshot if the clicks opened no page: they opened nothing, an
 * app or a file.
 */
export const pageScreenshot: Collector = {
  name: 'page_picture',
  start:
    (capture) =>
    async (draft, { creative }) => {
      const tab = creative?.tab;
      const hasPage = capture.landings.shown().some(({ ord }) => ord === SUBJECT_ORD);
      if (!tab || hasPage || !isShown(tab)) return;
      const bytes = await takeScreenshot(capture, tab);
      const size = jpegSize(bytes);
      if (size) draft.files.push({ name: PAGE_SCREENSHOT, contentType: CONTENT_TYPES.jpeg, bytes, ...size });
    },
};

/**
 * The part of a page that its screenshot shows, from the top left, in CSS pixels: bounded by the sides of a WebP image
 * and by our limit of pixels. `ratio`: device pixels per CSS pixel. Pure.
 */
export function screenshotClip(page: { width: number; height: number; ratio: number }) {
  const { ratio } = page;
  const longest = Math.floor(WEBP_SIDE_MAX / ratio);
  const width = Math.min(page.width, longest);
  // Fractional device pixels are rounded up.
  const inPixels = Math.floor(Math.floor(PICTURE_PIXELS_MAX / Math.ceil(width * ratio)) / ratio);
  const height = Math.min(page.height, longest, inPixels);
  return { x: 0, y: 0, width, height };
}
