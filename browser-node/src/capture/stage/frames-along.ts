import type { Frame, Page } from 'playwright-core';
import type { SeenFrame } from './choose-creative.ts';

/**
 * The frames of a page, as Playwright knows them, that lie along a path (from the innermost frame up, the page's own last). It tells no ids:
 * they are found by their addresses, level by level; of several at one level with the same address, all.
 */
export function framesAlong(page: Page, path: readonly Pick<SeenFrame, 'url'>[]): Frame[] {
  let level = [page.mainFrame()];
  const along = [...level];
  for (const { url } of path.toReversed().slice(1)) {
    level = level
      .flatMap((frame) => frame.childFrames())
      .filter((frame) => withoutFragment(frame.url()) === withoutFragment(url));
    along.push(...level);
  }
  return along;
}

const withoutFragment = (url: string): string => url.split('#')[0] as string;
