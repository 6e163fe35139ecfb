import { CONTENT_TYPES, landingScreenshot } from '@adsweep/shared/capture/artifacts.ts';
import { SUBJECT_ORD } from '@adsweep/shared/capture/capture.ts';
import { jpegSize } from '@adsweep/shared/capture/picture-size.ts';
import { COMMAND_MS } from '../devtools/devtools.ts';
import { evaluateInIsolatedWorld } from '../devtools/isolated-world.ts';
import { type PageSize, scrollThrough } from '../page-scripts/scroll-through.ts';
import { PICTURED_HEIGHT_MAX, SCREENSHOT_MS, SCROLL_MS } from '../session/budgets.ts';
import type { CaptureSession } from '../session/capture-session.ts';
import { type OpenTab, stopScript } from '../session/landings.ts';
import { underLoad } from '../session/machine-load.ts';
import { settle } from '../session/settle.ts';
import type { Collector } from './collector.ts';
import { picturedPart } from './pictured-part.ts';

/** The JPEG is encoded again as WebP when it is read, so its quality is a little higher than that of the WebP. */
const JPEG = { format: 'jpeg', quality: 90 } as const;
/** Screens that a page is scrolled through. Lazy content beyond is not loaded. */
const SCREENS_MAX = 8;
/** Time for the requests that scrolling triggered. */
const LAZY_MS = 1_500;

/** A screenshot of each landing: the whole page, up to the maximum size of a WebP image. */
export const screenshots: Collector = {
  name: 'screenshots',
  budgetMs: SCREENSHOT_MS * 3,
  start: (captureSession) => async (draft) => {
    for (const landing of captureSession.landings.shown()) {
      const bytes = await picture(captureSession, landing, landing.ord === SUBJECT_ORD ? SCREENS_MAX : 0);
      const size = jpegSize(bytes);
      const captured = draft.landings.find(({ ord }) => ord === landing.ord);
      // A side beyond WebP's maximum gives an empty picture and no error.
      if (!size || !captured) continue;
      captured.screenshot = landingScreenshot(landing.ord);
      draft.files.push({ name: captured.screenshot, contentType: CONTENT_TYPES.jpeg, bytes, ...size });
    }
  },
};

/** The whole page of a tab as JPEG, up to the maximum size of a WebP image; else the viewport. Scrolls through `screens` first. */
export async function picture(captureSession: CaptureSession, landing: OpenTab, screens: number): Promise<Buffer> {
  try {
    const size = await wholePage(captureSession, landing, screens);
    if (size.isEmpty) return await shootView(landing);
    if (size.height <= PICTURED_HEIGHT_MAX) return await shootWhole(captureSession, landing, size);
    captureSession.notes.push({ collector: 'screenshots', text: `${size.height} pixels high: what is in view` });
  } catch (cause) {
    captureSession.logger.info({ cause }, 'no full-page screenshot could be taken');
    captureSession.notes.push({
      collector: 'screenshots',
      text: 'no full-page screenshot could be taken: only the viewport',
    });
    await stopScript(landing.tab);
  }
  return shootView(landing);
}

/** Scrolls through the page so that it loads lazy content; returns the page's size. */
async function wholePage(captureSession: CaptureSession, landing: OpenTab, screens: number): Promise<PageSize> {
  const { session } = landing.tab;
  const scroll = (most: number) =>
    evaluateInIsolatedWorld(
      session,
      session.targetId,
      scrollThrough,
      { screens: most },
      underLoad(captureSession, SCROLL_MS),
    );
  // A page that scrolls too slowly is captured as it is.
  const size = await scroll(screens).catch(() => scroll(0));
  if (size.scrolled) await settle(captureSession, LAZY_MS);
  return size;
}

function shootWhole(captureSession: CaptureSession, { page, tab }: OpenTab, size: PageSize): Promise<Buffer> {
  const view = page.viewportSize();
  const beyondView = !view || size.width > view.width || size.height > view.height;
  const part = { clip: picturedPart(size), beyondView, quality: JPEG.quality };
  return captureSession.open.picture(tab.session.targetId, part, underLoad(captureSession, SCREENSHOT_MS));
}

/** What is in view. */
async function shootView({ tab }: OpenTab): Promise<Buffer> {
  const { data } = await tab.session.send('Page.captureScreenshot', JPEG, COMMAND_MS);
  return Buffer.from(data, 'base64');
}
