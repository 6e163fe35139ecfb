import type { Frame, Page } from 'playwright-core';
import { CLICK_MS, FIRST_ANSWER_MS, NAVIGATION_MS, underLoad } from '../session/budgets.ts';
import type { CaptureSession } from '../session/capture-session.ts';
import { settle } from '../session/settle.ts';
import { withoutFragment } from '../session/urls.ts';
import type { SeenFrame } from './choose-creative.ts';
import type { HarnessPage } from './harness-page.ts';
import type { StoppedLoad } from './page-loads.ts';

/** A place in the view of a tab, in CSS pixels. */
export type Point = { x: number; y: number };

const CHECK_EVERY_MS = 50;
/** Loads in the creative's place that are opened per click: a tab-under has one beside the tab that opens. */
const IN_PLACE_MAX = 3;

/**
 * Clicks at one point after the other, as a visitor would, until a landing opens; then waits until the tabs have come to rest. `frames`:
 * those that show the creative, from the innermost up. What would load in their place is opened in a tab of its own, so that the creative
 * stays; a creative's own tab never counts as a landing unless it was led elsewhere all the same. Answers whether anything opened.
 */
export async function followClick(
  captureSession: CaptureSession,
  harness: HarnessPage,
  frames: readonly Frame[],
  points: readonly Point[],
): Promise<boolean> {
  const { ending, landings } = captureSession;
  const openBefore = new Set(landings.tabs);
  const { attached, opened } = landings;
  const isOpened = () => landings.tabs.some((tab) => !openBefore.has(tab)) || hasNavigatedAway(harness);
  const isOpening = () => landings.attached > attached || harness.pageLoads.stopped.length > 0 || isOpened();
  for (const point of points) {
    if (ending.failure || harness.page.isClosed()) break;
    captureSession.clickedAtMs ??= Date.now();
    captureSession.clicks += 1;
    harness.pageLoads.follow(frames);
    await ending.race(clickAt(harness, point).catch(() => undefined));
    await waitFor(isOpening, underLoad(captureSession, CLICK_MS));
    if (isOpening()) break;
  }
  const hasAnswer = () => landings.opened > opened || hasNavigatedAway(harness) || ending.failure !== null;
  if (landings.attached > attached) await waitFor(hasAnswer, underLoad(captureSession, FIRST_ANSWER_MS));
  await landings.joined();
  if (points.length > 0) await openInPlaceLoads(captureSession, harness);
  harness.pageLoads.allow();
  for (const tab of landings.tabs) if (!openBefore.has(tab)) tab.tab.openedBy = 'click';
  if (hasNavigatedAway(harness)) markAsLanding(captureSession, harness);
  return landings.tabs.length > openBefore.size || hasNavigatedAway(harness);
}

/** One click, or on a touch device a tap. */
export async function clickAt(
  { page, hasTouch }: Pick<HarnessPage, 'page' | 'hasTouch'>,
  { x, y }: Point,
): Promise<void> {
  if (hasTouch) await page.touchscreen.tap(x, y);
  else await page.mouse.click(x, y);
}

/** Resolves when `holds` does, or after `ms`. */
export async function waitFor(holds: () => boolean, ms: number): Promise<void> {
  const until = performance.now() + ms;
  while (!holds() && performance.now() < until) await new Promise((resolve) => setTimeout(resolve, CHECK_EVERY_MS));
}

/**
 * Opens what would have loaded in the creative's place, and waits until the tabs are at rest; and again what was tried by then: the load
 * of a tab-under comes some time after the tab that the click opened.
 */
async function openInPlaceLoads(captureSession: CaptureSession, { pageLoads }: HarnessPage): Promise<void> {
  const { ending } = captureSession;
  const opened = new Set<string>();
  const waiting = () => pageLoads.stopped.filter(({ url }) => !opened.has(url)).slice(0, IN_PLACE_MAX - opened.size);
  do {
    for (const load of waiting()) {
      opened.add(load.url);
      await openInTab(captureSession, load);
    }
    await ending.race(settle(captureSession));
  } while (waiting().length > 0 && !ending.failure);
}

/** Opens a load in a tab of its own. As in the creative's place, it has no opener, and sends the same `Referer`. */
async function openInTab({ ending, open }: CaptureSession, { url, referrer }: StoppedLoad): Promise<void> {
  const page = await ending.race(open.context.newPage());
  const options = { waitUntil: 'commit', timeout: NAVIGATION_MS, ...(referrer && { referer: referrer }) } as const;
  // A landing that cannot be reached says so in its chain.
  if (page) await ending.race(page.goto(url, options).catch(() => undefined));
}

/** Whether the creative's own tab shows something else now. */
export const hasNavigatedAway = ({ tab, url }: HarnessPage): boolean =>
  tab.tab.committed && tab.tab.url !== '' && withoutFragment(tab.tab.url) !== withoutFragment(url);

/** From its first document that is not ours, the tab shows a landing. */
export function markAsLanding({ journal }: CaptureSession, { tab, url }: HarnessPage): void {
  const hops = journal.hopsOf(tab.tab.session.targetId);
  tab.tab.landingHop = hops.findLastIndex((hop) => withoutFragment(hop.url) === withoutFragment(url)) + 1;
}

/**
 * The frames of a page, as Playwright knows them, that lie along a path (from the innermost frame up, the page's own last). It tells no ids:
 * they are found by their addresses, level by level; of several at one level with the same address, all.
 */
export function ancestorFrames(page: Page, path: readonly Pick<SeenFrame, 'url'>[]): Frame[] {
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
