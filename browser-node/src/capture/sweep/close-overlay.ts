import { type FoundAd, isSameElement } from '../discovery/found-ad.ts';
import { centreOf } from '../harness/clickables.ts';
import type { CreativePage } from '../harness/harness-page.ts';
import { ANSWER_MS, underLoad } from '../session/budgets.ts';
import { type MemberCapture, refuseTabs } from '../session/capture-session.ts';
import { clickAsVisitor } from '../session/visitor-click.ts';
import { boxInView, viewOf } from './ad-place.ts';

/**
 * Closes what covers the page with an ad by its close button, as a visitor does before reading on, unless one of the
 * `later` ads is on it too. What a button opens instead is stopped: the ad has been clicked already. Never throws: what
 * stays open is hidden while other ads are clicked.
 */
export async function closeOverlay(
  capture: MemberCapture,
  host: CreativePage,
  ad: FoundAd,
  later: readonly FoundAd[],
): Promise<void> {
  const { ending, logger, tabs, visit } = capture;
  if (!ad.closeButton || ending.failure || later.some(({ overlay }) => isSameElement(overlay, ad.overlay))) return;
  const deadlineMs = underLoad(capture, ANSWER_MS);
  try {
    const view = await ending.race(viewOf(capture, host.tab));
    const box = await ending.race(boxInView(ad.closeButton, deadlineMs));
    const centre = box && view && centreOf(box, view);
    if (!centre) return;
    visit.beginCheck();
    host.pageLoads.stopAll();
    refuseTabs(capture);
    await ending.race(clickAsVisitor(host.tab, host.hasTouch, centre));
  } catch (cause) {
    logger.info({ cause }, 'an ad over the page could not be closed');
  } finally {
    tabs.closeRefused();
  }
}
