import { setTimeout } from 'node:timers/promises';
import { afterwards, whileOpen } from '../collectors/index.ts';
import { interactive } from '../collectors/interactive.ts';
import { pageScreenshot, screenshots } from '../collectors/screenshots.ts';
import { checkInteractive } from '../harness/check-interactive.ts';
import { type Clickable, centreOf, clickablesUnder, gridOver } from '../harness/clickables.ts';
import { ancestorFrames, followClick, hasNavigatedAway, markAsLanding } from '../harness/follow-click.ts';
import { authenticate, type HarnessPage, openHarnessPage } from '../harness/harness-page.ts';
import { measureFrames } from '../harness/measure-frames.ts';
import { hasElement, isTagUrl, mraidAnswer, placementPage } from '../harness/placement.ts';
import { publisherFragment, publisherUrl } from '../harness/publisher-url.ts';
import { type FoundCreative, isRendered, seeCreative } from '../harness/see-creative.ts';
import { EMPTY_PLACEMENT_MS, LATE_CLICKABLE_MS, NAVIGATION_MS } from '../session/budgets.ts';
import type { CaptureRequest } from '../session/capture-outcome.ts';
import type { CaptureSession } from '../session/capture-session.ts';
import { creativeLandings } from '../session/landings.ts';
import type { Entry } from '../session/network-journal.ts';
import { settle } from '../session/settle.ts';
import type { CaptureTarget, Visit } from './target.ts';

/**
 * An ad tag: rendered in a placement on the publisher's page, measured, clicked, and checked for elements that open nothing. Its landings are
 * the tabs that opened; a landing that fails does not fail the scan.
 */
export const adTag: CaptureTarget = {
  prepare: authenticate,
  visit,
  collectors: {
    whileOpen: whileOpen.flatMap((one) => (one === screenshots ? [screenshots, pageScreenshot, interactive] : [one])),
    afterwards,
  },
  landings: creativeLandings,
  subject: () => undefined,
};

/** Points that are clicked, beside the middle, until a landing opens. */
const CLICKS_MAX = 8;
const LOOK_EVERY_MS = 250;

async function visit(captureSession: CaptureSession, { target, referrer }: CaptureRequest): Promise<Visit> {
  const tag = target.value;
  const isUrl = isTagUrl(tag);
  if (!isUrl && !hasElement(tag))
    return { error: '', failure: { code: 'ad_tag: INVALID', cause: 'the snippet holds no element' } };
  const url = publisherUrl(referrer, tag);
  const markup = placementPage(new URL(url).host, tag);
  const content = { url, fragment: publisherFragment(referrer), markup, named: tag };
  const harness = await openHarnessPage(captureSession, content, mraidAnswer);
  if (!harness) return ended(captureSession);
  await settle(captureSession);
  const own = isUrl ? await ownDocument(captureSession, harness, tag.trim()) : NO_DOCUMENT;
  if (own.error) return ended(captureSession, own);
  await settleLateCreative(captureSession, harness, isUrl);
  // A creative that navigated away on its own is gone: what replaced it is a landing.
  if (hasNavigatedAway(harness)) {
    markAsLanding(captureSession, harness);
    return ended(captureSession, own);
  }
  const found = await seeCreative(captureSession, harness, isUrl);
  captureSession.creative = found.seen;
  if (found.box) await click(captureSession, harness, found, isUrl);
  // A timer that a click started may lead the page away later.
  if (hasNavigatedAway(harness)) markAsLanding(captureSession, harness);
  return ended(captureSession, own);
}

/** The document of a tag's address, and the error that its navigation ended with, '' = a document came. */
type OwnDocument = Pick<Visit, 'error' | 'document'>;
const NO_DOCUMENT: OwnDocument = { error: '' };

const ended = ({ ending }: CaptureSession, own = NO_DOCUMENT): Visit => ({ ...own, failure: ending.failure });

/** Watches a placement that is still empty, and waits until late content has come to rest. */
async function settleLateCreative(captureSession: CaptureSession, harness: HarnessPage, isUrl: boolean): Promise<void> {
  const { ending, tabs } = { ending: captureSession.ending, tabs: captureSession.landings.tabs.length };
  const isOver = () =>
    ending.failure !== null || hasNavigatedAway(harness) || captureSession.landings.tabs.length > tabs;
  const until = performance.now() + EMPTY_PLACEMENT_MS;
  if (isOver() || (await isRendered(captureSession, harness, isUrl))) return;
  while (!isOver() && performance.now() < until) {
    await ending.race(setTimeout(LOOK_EVERY_MS));
    if (await isRendered(captureSession, harness, isUrl)) break;
  }
  await settle(captureSession);
}

/**
 * The last document that the frame of a tag's address loaded. One that refuses to be framed (RFC 7034, CSP frame-ancestors) is opened by
 * itself, with what it would have been told of the publisher.
 */
async function ownDocument(captureSession: CaptureSession, harness: HarnessPage, url: string): Promise<OwnDocument> {
  const { journal, ending } = captureSession;
  const { targetId } = harness.tab.tab.session;
  await awaitAnswer(captureSession, harness);
  const own = ownLoads(captureSession, harness);
  const last = own.at(-1);
  if (!last?.fault.includes('ERR_BLOCKED_BY_RESPONSE')) {
    if (isUnanswered(own)) return { document: last, error: 'net::ERR_TIMED_OUT' };
    return { document: last, error: own.some(isAnswered) ? '' : (last?.fault ?? '') };
  }
  const referer = `${new URL(harness.publisherUrl).origin}/`;
  captureSession.isLeading = true;
  await ending.race(harness.page.goto(url, { waitUntil: 'commit', timeout: NAVIGATION_MS, referer }).catch(() => null));
  captureSession.isLeading = false;
  await settle(captureSession);
  harness.url = harness.tab.tab.url;
  return { document: journal.hopsOf(targetId).at(-1), error: '' };
}

/** Waits for an answer of the tag's address as long as for that of a page. */
async function awaitAnswer(captureSession: CaptureSession, harness: HarnessPage): Promise<void> {
  const { ending, startedAt } = captureSession;
  const isWaiting = () => isUnanswered(ownLoads(captureSession, harness)) && !ending.failure;
  if (!isWaiting()) return;
  while (isWaiting() && performance.now() < startedAt + NAVIGATION_MS) await ending.race(setTimeout(LOOK_EVERY_MS));
  if (!isWaiting()) await settle(captureSession);
}

/** Documents that the frame of a tag's address asked for. */
function ownLoads({ journal }: CaptureSession, harness: HarnessPage): Entry[] {
  const { targetId } = harness.tab.tab.session;
  const loads = journal.entries().filter(({ tab, resourceType }) => tab === targetId && resourceType === 'document');
  const first = loads.find(({ hop }) => hop === null);
  return loads.filter(({ frameId }) => frameId === first?.frameId);
}

const isAnswered = ({ statusCode, redirectedTo }: Entry): boolean => statusCode > 0 && redirectedTo === null;

/** Whether the server has neither answered nor refused the last of these requests, nor any before. */
const isUnanswered = (loads: Entry[]): boolean => loads.at(-1)?.fault === '' && !loads.some(isAnswered);

/**
 * Clicks the middle first, then what looks clickable; where nothing opened, such as on an ad that expands first, once more on what is there
 * by then. The landings that open stay; the creative is checked when they are captured.
 */
async function click(
  captureSession: CaptureSession,
  harness: HarnessPage,
  { seen, path, frames, box }: FoundCreative,
  isUrl: boolean,
): Promise<void> {
  const view = harness.page.viewportSize();
  if (!view || !box) return;
  const clickables = await clickablesUnder(captureSession, frames, gridOver(box, view));
  const centre = centreOf(box, view);
  const points = [...(centre ? [centre] : []), ...clickables.slice(0, CLICKS_MAX)];
  const kept = ancestorFrames(harness.page, path);
  const isOpened =
    (await followClick(captureSession, harness, kept, points)) ||
    (await followClick(
      captureSession,
      harness,
      kept,
      (await awaitClickables(captureSession, harness)).slice(0, CLICKS_MAX),
    ));
  if (!isOpened || hasNavigatedAway(harness)) return;
  seen.checkInteractive = (budgetMs) => checkInteractive(captureSession, harness, isUrl, budgetMs);
}

/** What looks clickable anywhere in view; where nothing does, once something does: a call to action may come at the end of an animation. */
async function awaitClickables(captureSession: CaptureSession, harness: HarnessPage): Promise<Clickable[]> {
  const until = performance.now() + LATE_CLICKABLE_MS;
  for (;;) {
    const found = await clickablesNow(captureSession, harness);
    if (found.length > 0 || performance.now() > until || captureSession.ending.failure || hasNavigatedAway(harness))
      return found;
    await captureSession.ending.race(setTimeout(LOOK_EVERY_MS));
  }
}

/** What looks clickable anywhere in view. */
async function clickablesNow(captureSession: CaptureSession, { tab, page }: HarnessPage): Promise<Clickable[]> {
  const frames = await measureFrames(captureSession, tab.tab.session);
  const view = page.viewportSize();
  return view ? clickablesUnder(captureSession, frames, gridOver({ x: 0, y: 0, ...view }, view)) : [];
}
