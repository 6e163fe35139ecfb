import type { Emulator } from '@adsweep/shared/scan/devices/device.ts';
import { findEmulator } from '@adsweep/shared/scan/emulators.ts';
import { parseVast } from '@adsweep/shared/vast/read-vast.ts';
import type { Box } from '../box.ts';
import { awaitClickables, type Clickables, clickablesUnder, gridOver } from '../harness/clickables.ts';
import { type Followed, followClick } from '../harness/follow-click.ts';
import { authenticate, openHarnessPage } from '../harness/harness-page.ts';
import { measureFrames } from '../harness/measure-frames.ts';
import { publisherFragment, publisherUrl } from '../harness/publisher-url.ts';
import type { CaptureRequest } from '../session/capture-outcome.ts';
import type { MemberCapture } from '../session/capture-session.ts';
import type { OpenTab } from '../session/open-tabs.ts';
import { isOfServer } from '../session/urls.ts';
import type { Point } from '../session/visitor-click.ts';
import { awaitTrackers } from '../vast/await-trackers.ts';
import { documentFetcher } from '../vast/fetch-document.ts';
import { ResponseInterceptor } from '../vast/intercept-responses.ts';
import { newTransactionId } from '../vast/macros.ts';
import { playAds } from '../vast/play-ads.ts';
import type { Player } from '../vast/player.ts';
import { PlayerPage } from '../vast/player-page.ts';
import { fireErrors, TrackerLog } from '../vast/tracker-log.ts';
import { unwrap } from '../vast/unwrap.ts';
import type { VastRun } from '../vast/vast-run.ts';
import { VIDEO_PAGE, VIDEO_TITLE } from '../vast/video-page.ts';
import type { FetchedDocument, Resolution } from '../vast/wrapper-chain.ts';
import type { CaptureTarget, Visited } from './target.ts';
import { visitOutcome } from './vast-outcome.ts';

/**
 * A video ad: its wrapper chain is followed and its video is played on the harness page; the tabs that the click opened
 * are its landings.
 */
export const vastTag: CaptureTarget = {
  prepare: authenticate,
  refusal: () => null,
  publisherUrl: ({ target, referrer }) => publisherUrl(referrer, firstUrlOf(target.value)),
  visit,
};

/** The player's maximum width, in CSS pixels. */
const PLAYER_WIDTH = 640;
/** How often the player is clicked whose frames were replaced meanwhile. */
const CLICKS_MAX = 3;
/** Buttons and links of an ad that are clicked, besides its centre, until something opens. */
const CLICKABLES_MAX = 3;

/** Fetches the tag, follows its wrappers and plays the ads that they lead to. A tag without an ad fails the scan. */
async function visit(capture: MemberCapture, tab: OpenTab, request: CaptureRequest): Promise<Visited> {
  const { ending, journal, publisherUrl: url } = capture;
  const { target, referrer } = request;
  const content = { fragment: publisherFragment(referrer), markup: VIDEO_PAGE, tag: target.value };
  const harness = await openHarnessPage(capture, tab, content);
  if (!harness) return { error: '', failure: ending.failure };
  const page = new PlayerPage(capture, harness);
  const { targetId } = tab.tab.session;
  const responses = await ResponseInterceptor.start(harness.page, targetId, new URL(url).origin);
  const player = await newPlayer(capture, request, page, responses);
  const resolution = await resolve(capture, request, player);
  const vast: VastRun = { resolution, played: [], log: player.log };
  const facts = { url, ...player.size, page_url: url, page_title: VIDEO_TITLE };
  const creative = { tab, frameId: tab.tab.session.targetId, facts, files: player.files };
  await ending.contain(play(player, vast));
  await ending.contain(awaitTrackers(capture, player));
  const outcome = ending.failure ? { error: '', failure: ending.failure } : visitOutcome(resolution, journal);
  return { ...outcome, creative, vast };
}

async function play(player: Player, { resolution, played, log }: VastRun): Promise<void> {
  await fireErrors(log, resolution);
  await playAds(player, resolution, played);
}

async function newPlayer(
  capture: MemberCapture,
  { emulator_id }: CaptureRequest,
  page: PlayerPage,
  responses: ResponseInterceptor,
): Promise<Player> {
  const emulator = findEmulator(emulator_id) as Emulator;
  const { viewport, deviceScaleFactor } = emulator.device;
  const width = Math.min(PLAYER_WIDTH, viewport.width);
  const size = { width, height: Math.round((width * 9) / 16) };
  await page.mount(size.width, size.height);
  const userAgent = (await page.run(() => navigator.userAgent, null)) ?? '';
  const transactionId = newTransactionId();
  const log = new TrackerLog(page, capture.startedAt, () => ({
    now: new Date(),
    pageUrl: page.url,
    userAgent,
    player: { ...size, muted: true },
    transactionId,
  }));
  const { journal } = capture;
  return {
    page,
    log,
    journal,
    responses,
    emulator,
    size,
    pixelWidth: width * deviceScaleFactor,
    click: clickOnce(capture, page),
    files: [],
    notes: capture.notes,
  };
}

async function resolve(
  capture: MemberCapture,
  { target }: CaptureRequest,
  { page, responses, log }: Player,
): Promise<Resolution> {
  const fetchDocument = documentFetcher(capture, page, responses, (url) => log.fill(null, url, {}));
  const isUrl = isOfServer(target.value.trim());
  const root = isUrl ? await fetchDocument(target.value.trim()) : inlineDocument(target.value, page.url);
  return unwrap(root, fetchDocument);
}

/** A document that the client sent; its URLs are relative to the page that it is played on. */
const inlineDocument = (text: string, url: string): FetchedDocument => ({
  url,
  statusCode: 200,
  contentType: 'application/xml',
  text,
  fault: '',
  readable: true,
  atMs: 0,
  elapsedMs: 0,
});

/** Clicks the player, or what it shows, once for the whole tag. */
function clickOnce(capture: MemberCapture, page: PlayerPage): Player['click'] {
  let isClicked = false;
  return async (click, shown = '', hasReacted = () => false) => {
    if (isClicked || page.isGone) return false;
    isClicked = true;
    if (click) await page.awaitClick(click.url, click.trackers);
    const at = await page.centre(shown);
    const followed = at && (await clickPlayer(capture, page, at));
    if (click) return page.endClick();
    if (!at || followed === 'opened' || hasReacted()) return false;
    const look = async (): Promise<Clickables> => {
      const box = hasReacted() ? null : await page.box(shown);
      return box ? clickablesIn(capture, page, box) : NOTHING_CLICKABLE;
    };
    for (const point of (await awaitClickables(capture, page.harness, look)).points) {
      if (hasReacted() || page.isGone) break;
      if ((await clickPlayer(capture, page, point)) === 'opened') break;
    }
    return false;
  };
}

async function clickPlayer(capture: MemberCapture, page: PlayerPage, at: Point): Promise<Followed> {
  let followed: Followed = 'replaced';
  for (let time = 0; followed === 'replaced' && time < CLICKS_MAX; time += 1) {
    const frames = await measureFrames(capture, page.harness.tab.tab.session);
    followed = await followClick(capture, page.harness, { frames, kept: page.frames(), points: [at] });
  }
  return followed;
}

/** What looks clickable in a box of the player's page. */
async function clickablesIn(capture: MemberCapture, { harness }: PlayerPage, box: Box): Promise<Clickables> {
  const frames = await measureFrames(capture, harness.tab.tab.session);
  const view = harness.page.viewportSize();
  const found = view ? await clickablesUnder(capture, frames, gridOver(box, view)) : [];
  return { frames, points: found.slice(0, CLICKABLES_MAX) };
}

const NOTHING_CLICKABLE: Clickables = { frames: [], points: [] };

/**
 * The URL of the tag or, of a document, the first of its wrapper's, media files' and trackers' URLs; XML namespaces do
 * not count.
 */
function firstUrlOf(tag: string): string {
  const [ad] = parseVast(tag)?.ads ?? [];
  const files = ad?.linears.flatMap(({ mediaFiles }) => mediaFiles.map(({ url }) => url)) ?? [];
  const named = [ad?.wrapper?.uri, ...files, ...(ad?.trackers.map(({ url }) => url) ?? [])];
  return named.find((url) => url && isOfServer(url)) ?? (isOfServer(tag.trim()) ? tag : '');
}
