import { CONTENT_TYPES, PAGE_SCREENSHOT } from '@adsweep/shared/capture/artifacts.ts';
import { jpegSize } from '@adsweep/shared/capture/picture-size.ts';
import { SCREENSHOT_MS } from '../session/budgets.ts';
import { isShown } from '../session/landings.ts';
import type { Collector } from './collector.ts';
import { picture } from './screenshots.ts';

/** The page that a creative stood on, where no click led to a landing: it is then the picture of the scan. */
export const pagePicture: Collector = {
  name: 'page_picture',
  budgetMs: SCREENSHOT_MS,
  start: (captureSession) => async (draft) => {
    const tab = captureSession.creative?.tab;
    if (!tab || draft.landings.length > 0 || !isShown(tab)) return;
    const bytes = await picture(captureSession, tab, 0);
    const size = jpegSize(bytes);
    if (size) draft.files.push({ name: PAGE_SCREENSHOT, contentType: CONTENT_TYPES.jpeg, bytes, ...size });
  },
};
