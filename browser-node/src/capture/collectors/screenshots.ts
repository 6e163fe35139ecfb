import { landingScreenshot } from '@adsweep/shared/capture/artifact.ts';
import { WEBP_SIDE_MAX } from '@adsweep/shared/limits.ts';
import { COMMAND_MS, PICTURED_HEIGHT_MAX, SCREENSHOT_MS, SCROLL_MS } from '../budgets.ts';
import type { TargetSession } from '../devtools/devtools.ts';
import { evaluateApart } from '../evaluate-apart.ts';
import { type Landing, stopScript } from '../landings.ts';
import { type PageSize, scrollThrough } from '../page-scripts/scroll-through.ts';
import { settle } from '../settle.ts';
import type { Stage } from '../stage.ts';
import { webpSize } from '../webp-size.ts';
import type { Collector } from './collector.ts';

const QUALITY = 80;
/** Screens a page is scrolled through. Beyond, what is loaded when seen stays as it is. */
const SCREENS_MAX = 8;
/** Time for what scrolling asked for. */
const LAZY_MS = 1_500;

/** A picture of each landing: the whole page, as far as WebP can hold it. */
export const screenshots: Collector = {
  name: 'screenshots',
  budgetMs: SCREENSHOT_MS * 3,
  start: (stage) => async (draft) => {
    for (const landing of stage.landings.shown()) {
      const bytes = await picture(stage, landing);
      const size = webpSize(bytes);
      const captured = draft.landings.find(({ ord }) => ord === landing.ord);
      // A side beyond what WebP holds gives an empty picture and no error.
      if (!size || !captured) continue;
      captured.screenshot = landingScreenshot(landing.ord);
      draft.files.push({ name: captured.screenshot, contentType: 'image/webp', bytes, ...size });
    }
  },
};

async function picture(stage: Stage, landing: Landing): Promise<Buffer> {
  const { session } = landing.tab;
  try {
    const size = await wholePage(stage, landing);
    const isHuge = size.height > PICTURED_HEIGHT_MAX;
    if (isHuge) stage.notes.push({ collector: 'screenshots', text: `${size.height} pixels high: what is in view` });
    return await shoot(session, isHuge ? null : size, SCREENSHOT_MS);
  } catch (cause) {
    stage.logger.info({ cause }, 'a whole page could not be pictured');
    await stopScript(session);
    return shoot(session, null, COMMAND_MS);
  }
}

/** The page's size, once it was scrolled through for what it loads when seen. */
async function wholePage(stage: Stage, { ord, tab: { session } }: Landing): Promise<PageSize> {
  const screens = ord === 0 ? SCREENS_MAX : 0;
  const size = await evaluateApart(session, session.targetId, scrollThrough, { screens }, SCROLL_MS);
  if (screens > 0 && size.height >= size.viewportHeight * 1.5) await settle(stage, LAZY_MS);
  return size;
}

/** A picture of the page, or of what is in view where its size is null. */
async function shoot(session: TargetSession, size: PageSize | null, deadlineMs: number): Promise<Buffer> {
  const { data } = await session.send(
    'Page.captureScreenshot',
    { format: 'webp', quality: QUALITY, ...(size && beyondView(size)) },
    deadlineMs,
  );
  return Buffer.from(data, 'base64');
}

function beyondView({ width, height, ratio }: PageSize) {
  const longest = Math.floor(WEBP_SIDE_MAX / ratio);
  const clip = { x: 0, y: 0, width: Math.min(width, longest), height: Math.min(height, longest), scale: 1 };
  return { captureBeyondViewport: true, clip };
}
