import { note } from '@adsweep/shared/capture/notes.ts';
import { areaOf } from '../box.ts';
import type { FoundAd } from '../discovery/found-ad.ts';
import { checkInteractive } from '../harness/check-interactive.ts';
import { pathOf } from '../harness/choose-creative.ts';
import { awaitClickables, type Clickable, centreOf, clickablesUnder, gridOver } from '../harness/clickables.ts';
import { ancestorFrames, type Followed, followClick } from '../harness/follow-click.ts';
import { type CreativePage, hasNavigatedAway, markAsLanding } from '../harness/harness-page.ts';
import type { MeasuredFrame } from '../harness/measure-frames.ts';
import type { Interactivity } from '../harness/see-creative.ts';
import { ANSWER_MS, underLoad } from '../session/budgets.ts';
import type { CaptureSession, MemberCapture } from '../session/capture-session.ts';
import { settle } from '../session/settle.ts';
import { boxInView, framesOfAd, showAgain, uncover, viewOf } from './ad-place.ts';
import { pointAt } from './point-at.ts';
import { showAd } from './show-ad.ts';

/** Points that are clicked, besides the centre, until a landing opens. */
const CLICKS_MAX = 4;
/** How often an ad is shown and clicked whose slot refreshes while it is clicked. */
const TIMES_MAX = 5;

/**
 * What a click on an ad did: whether the ad was there; and the check for elements that open nothing, null: there is
 * nothing to check.
 */
export type AdClick = { isThere: boolean; checkInteractive: ((budgetMs: number) => Promise<Interactivity>) | null };

/**
 * Clicks an ad on a page as a visitor does, its centre first, then what looks clickable on it; if nothing opens, for
 * example because its picture was not there yet, then what looks clickable on it later. The tabs that open stay. If the
 * slot refreshes while it is clicked, the ad that it shows then is clicked; if it refreshes each time, a note says that
 * no click reached the ad.
 */
export async function clickAd(capture: MemberCapture, page: CreativePage, found: FoundAd): Promise<AdClick> {
  let clicked = await clickOnce(capture, page, found, 'now');
  for (let time = 1; clicked.followed === 'replaced' && time < TIMES_MAX; time += 1)
    clicked = await clickOnce(capture, page, clicked.ad, 'now');
  if (clicked.followed === 'replaced') capture.notes.push(note('click'));
  const hasMore = clicked.isThere && clicked.followed === 'nothing' && capture.busyDocuments.size === 0;
  // One that is gone by then was there when it was clicked.
  return hasMore ? { ...(await clickOnce(capture, page, clicked.ad, 'later')), isThere: true } : clicked;
}

/** `ad`: as it was shown. `when`: later: only what looks clickable is clicked, as soon as something does. */
async function clickOnce(
  capture: MemberCapture,
  page: CreativePage,
  found: FoundAd,
  when: 'now' | 'later',
): Promise<AdClick & { ad: FoundAd; followed: Followed }> {
  const shown = await showAd(capture, found);
  const { ad, frames: measured } = shown ?? { ad: found, frames: [] };
  // A slot is often wider than the ad in it.
  const box = shownFrame(measured, ad)?.box ?? shown?.box;
  const view = await viewOf(capture, page.tab);
  const centre = box && view && centreOf(box, view);
  if (!box || !view || !centre) return { ad, isThere: false, followed: 'nothing', checkInteractive: null };
  await uncover(capture, ad, measured, centre, box);
  await pointAt(capture, page, measured, centre);
  const look = async (frames: readonly MeasuredFrame[]) => ({
    frames,
    points: (await clickablesUnder(capture, frames, gridOver(box, view))).slice(0, CLICKS_MAX),
  });
  const { frames, points } =
    when === 'now'
      ? await look(measured)
      : await awaitClickables(capture, page, async () => look(await framesOfAd(capture, ad)));
  const inside = frames.find(({ frameId }) => frameId === ad.frameIds.at(-1)) ?? frames[0];
  const kept = ancestorFrames(page.page, inside ? pathOf(frames, inside.frameId) : []);
  const clicked = { frames, kept, points: when === 'now' ? [centre, ...points] : points };
  const followed = await followClick(capture, page, clicked);
  await showAgain(capture, page.tab, 'covers', { ad, frames: measured });
  if (hasNavigatedAway(page)) await becomeLanding(capture, page);
  const isCheckable = followed === 'opened' && !hasNavigatedAway(page) && ad.block.ad_kind === 'banner';
  const clickables = () => clickablesOf(capture, page, ad);
  const check = async (budgetMs: number) => {
    await uncover(capture, ad, measured, centre, box);
    await pointAt(capture, page, measured, centre);
    const checked = await checkInteractive(capture, page, clickables, budgetMs);
    await showAgain(capture, page.tab, 'covers', { ad, frames: measured });
    return checked;
  };
  return { ad, isThere: true, followed, checkInteractive: isCheckable ? check : null };
}

/** The largest frame of an ad. */
const shownFrame = (frames: readonly MeasuredFrame[], { frameIds }: FoundAd): MeasuredFrame | undefined =>
  frames
    .filter(({ frameId, box }) => frameIds.includes(frameId) && box !== null)
    .toSorted((a, b) => areaOf(b.box) - areaOf(a.box))[0];

/** The click took the page's place: its tab is a landing of the ad. */
async function becomeLanding(capture: MemberCapture, page: CreativePage): Promise<void> {
  capture.tabs.adopt(page.tab);
  capture.landings.markAsClicked(page.tab.tab);
  markAsLanding(capture, page);
  await capture.ending.race(settle(capture));
}

/** What looks clickable on the ad as it is shown now; nothing if its frames are gone. */
async function clickablesOf(session: CaptureSession, { tab }: CreativePage, ad: FoundAd): Promise<Clickable[]> {
  const view = await viewOf(session, tab);
  const frames = await framesOfAd(session, ad);
  // A slot is often wider than the ad in it.
  const inPage = ad.frameIds.length > 0 ? null : ad.element;
  const box = inPage
    ? await boxInView(inPage, underLoad(session, ANSWER_MS)).catch(() => null)
    : shownFrame(frames, ad)?.box;
  return box && view ? clickablesUnder(session, frames, gridOver(box, view)) : [];
}
