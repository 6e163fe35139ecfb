import { note } from '@adsweep/shared/capture/notes.ts';
import { DeadlineError, withDeadline } from '@adsweep/shared/service/with-deadline.ts';
import type { Frame, Page } from 'playwright-core';
import { CLICK_MS, CLICKED_MS, FIRST_ANSWER_MS, NAVIGATION_MS, underLoad } from '../session/budgets.ts';
import { rememberTimes, stopBusyScripts } from '../session/busy-scripts.ts';
import type { CaptureSession, MemberCapture } from '../session/capture-session.ts';
import { settle } from '../session/settle.ts';
import type { Tab } from '../session/tab.ts';
import { isOfServer, withoutFragment } from '../session/urls.ts';
import { clickAsVisitor, type Point } from '../session/visitor-click.ts';
import type { SeenFrame } from './choose-creative.ts';
import { ClickDelivery } from './click-delivery.ts';
import { frameUnder } from './clickables.ts';
import { type CreativePage, hasNavigatedAway, markAsLanding } from './harness-page.ts';
import type { MeasuredFrame } from './measure-frames.ts';
import type { PageLoads, StoppedLoad } from './page-loads.ts';

const CHECK_EVERY_MS = 50;
/** How often a point is clicked whose frame does not notice it in time. */
const TRIES_MAX = 3;
/** Loads in the creative's place that are opened per click: a tab-under has one beside the tab that opens. */
const IN_PLACE_MAX = 3;

/**
 * What is clicked. `frames`: those of the tab, as they were measured; `kept`: those that show the creative, as
 * Playwright knows them.
 */
export type Clicked = { frames: readonly MeasuredFrame[]; kept: readonly Frame[]; points: readonly Point[] };

/**
 * What clicks led to. `replaced`: nothing opened, and another document or frame is now at the clicked point: the caller
 * measures the frames again.
 */
export type Followed = 'opened' | 'nothing' | 'replaced';

/**
 * Clicks one point after the other, as a visitor would, until a landing opens or a clicked frame was replaced; then
 * waits until the tabs have settled. A navigation that would replace one of the `kept` frames opens in a new tab
 * instead, so that the creative stays. Notes clicks that reached nothing.
 */
export async function followClick(capture: MemberCapture, harness: CreativePage, clicked: Clicked): Promise<Followed> {
  const { ending, tabs, landings } = capture;
  const openBefore = new Set(tabs.all);
  const { attached } = tabs;
  const isOpened = () => tabs.all.some((tab) => !openBefore.has(tab)) || hasNavigatedAway(harness);
  const isOpening = () => tabs.attached > attached || harness.pageLoads.stopped.length > 0 || isOpened();
  const unansweredBefore = new Set(tabs.unanswered());
  const hasClicked = clicked.points.length > 0;
  if (hasClicked) await ending.race(rememberTimes(capture));
  const isReplaced = await clickPoints(capture, harness, clicked, isOpening);
  if (isReplaced && !isOpening()) {
    harness.pageLoads.allow();
    return 'replaced';
  }
  // A click may open several windows, each with its own click tracker. One that asks no server soon is not going to.
  const isAsking = ({ hops, openedAt }: Tab) => hops > 0 || performance.now() - openedAt < CLICK_MS;
  const isAnswered = () =>
    !tabs.unanswered().some((one) => !unansweredBefore.has(one) && isAsking(one)) ||
    hasNavigatedAway(harness) ||
    ending.failure !== null;
  if (tabs.attached > attached) await waitFor(isAnswered, underLoad(capture, FIRST_ANSWER_MS));
  await tabs.joined();
  if (hasClicked) await openInPlaceLoads(capture, harness);
  harness.pageLoads.allow();
  for (const one of tabs.all) if (!openBefore.has(one)) landings.markAsClicked(one.tab);
  if (hasNavigatedAway(harness)) markAsLanding(capture, harness);
  return tabs.all.length > openBefore.size || hasNavigatedAway(harness) ? 'opened' : 'nothing';
}

/**
 * Clicks the points until something opens. A click that does not reach what is at its point, or not in time, is
 * repeated. Resolves to whether a frame at the last point was replaced meanwhile: then the remaining points are out of
 * date.
 */
async function clickPoints(
  capture: MemberCapture,
  harness: CreativePage,
  { frames, kept, points }: Clicked,
  isOpening: () => boolean,
): Promise<boolean> {
  const { ending, notes, visit } = capture;
  const delivery = new ClickDelivery(capture, frames);
  let isLost = false;
  for (const point of points) {
    let isDelivered: boolean | null = false;
    for (let time = 0; !isDelivered && time < TRIES_MAX; time += 1) {
      if (ending.failure || harness.page.isClosed()) return false;
      await ending.race(delivery.expect(point));
      visit.click();
      harness.pageLoads.follow(kept);
      const isHandled = await click(capture, harness, point);
      await waitFor(isOpening, underLoad(capture, CLICK_MS));
      const shown = frameUnder(frames, point)?.at.session ?? harness.tab.tab.session;
      // What spins when it is clicked opens nothing; what another frame held up is clicked again.
      if (isOpening() || capture.busyDocuments.has(shown)) return false;
      isDelivered = isHandled && (await ending.race(delivery.isDelivered(point)));
      if (isDelivered === null && !ending.failure) return true;
    }
    isLost ||= isDelivered === false;
  }
  if (isLost) notes.push(note('click'));
  return false;
}

/** Clicks a point; whether that was handled in time. Scripts that hold it up are stopped. */
async function click(capture: MemberCapture, { tab, hasTouch }: CreativePage, point: Point): Promise<boolean> {
  const { ending } = capture;
  const clicking = withDeadline(clickAsVisitor(tab, hasTouch, point), underLoad(capture, CLICKED_MS), 'a click');
  const isLate = await ending.race(clicking.then(() => false).catch((error) => error instanceof DeadlineError));
  if (isLate) await ending.race(stopBusyScripts(capture));
  return !isLate;
}

/** Resolves when `holds` returns true, or after `ms`. */
export async function waitFor(holds: () => boolean, ms: number): Promise<void> {
  const until = performance.now() + ms;
  while (!holds() && performance.now() < until) await new Promise((resolve) => setTimeout(resolve, CHECK_EVERY_MS));
}

/**
 * Opens in tabs what would have loaded in the creative's place, and waits until the tabs have settled. Repeats this for
 * loads that were stopped meanwhile: a tab-under navigates some time after the click opened its tab.
 */
async function openInPlaceLoads(capture: MemberCapture, { pageLoads }: CreativePage): Promise<void> {
  const { ending } = capture;
  const opened = new Set<string>();
  const waiting = () => pageLoads.stopped.filter(({ url }) => !opened.has(url)).slice(0, IN_PLACE_MAX - opened.size);
  do {
    for (const load of waiting()) {
      opened.add(load.url);
      await openInTab(capture, pageLoads, load);
    }
    await ending.race(settle(capture));
  } while (waiting().length > 0 && !ending.failure);
}

/**
 * Opens a stopped load in a new tab. As in the creative's place, it has no opener, sends the same `Referer` and posts
 * the same form. For an app the tab is empty: the page chose the URL, and what we navigate to ourselves Chromium does
 * not check. So it is for a file that the page made and that was downloaded, which no other tab can load.
 */
async function openInTab(
  { ending, open, tabs, journal }: CaptureSession,
  pageLoads: PageLoads,
  { url, referrer, form }: StoppedLoad,
): Promise<void> {
  const page = await ending.race(open.context.newPage());
  if (page && form) pageLoads.post(page, form);
  const options = { waitUntil: 'commit', timeout: NAVIGATION_MS, ...(referrer && { referer: referrer }) } as const;
  // The redirect chain of a landing shows that it could not be reached.
  if (page) await ending.race(page.goto(isOfServer(url) ? url : 'about:blank', options).catch(() => undefined));
  await ending.race(tabs.joined());
  const tab = page && tabs.known(page)?.tab.session.targetId;
  if (tab && !isOfServer(url)) journal.openedApp(url, tab);
}

/**
 * A creative's frame and its ancestors as Playwright knows them. `path`: the same frames as CDP knows them, from the
 * innermost up. Playwright has no CDP ids, so frames are matched level by level by URL; siblings with the same URL are
 * all returned.
 */
export function ancestorFrames(page: Page, path: readonly Pick<SeenFrame, 'url'>[]): Frame[] {
  let level = [page.mainFrame()];
  const frames = [...level];
  for (const { url } of path.toReversed().slice(1)) {
    level = level
      .flatMap((frame) => frame.childFrames())
      .filter((frame) => withoutFragment(frame.url()) === withoutFragment(url));
    frames.push(...level);
  }
  return frames;
}
