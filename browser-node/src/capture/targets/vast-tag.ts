import type { Emulator } from '@adsweep/shared/scan/devices/device.ts';
import { findEmulator } from '@adsweep/shared/scan/emulators.ts';
import { parseVast } from '@adsweep/shared/vast/read-vast.ts';
import { afterwards, whileOpen } from '../collectors/index.ts';
import { pageScreenshot, screenshots } from '../collectors/screenshots.ts';
import { vast } from '../collectors/vast.ts';
import { followClick } from '../harness/follow-click.ts';
import { authenticate, openHarnessPage } from '../harness/harness-page.ts';
import { publisherFragment, publisherUrl } from '../harness/publisher-url.ts';
import type { CaptureRequest } from '../session/capture-outcome.ts';
import type { CaptureSession } from '../session/capture-session.ts';
import { creativeLandings } from '../session/landings.ts';
import { documentFetcher } from '../vast/fetch-document.ts';
import { ResponseInterceptor } from '../vast/intercept-responses.ts';
import { newTransactionId } from '../vast/macros.ts';
import { playAds } from '../vast/play-ads.ts';
import type { Player } from '../vast/player.ts';
import { PlayerPage } from '../vast/player-page.ts';
import { fireErrors, TrackerLog } from '../vast/tracker-log.ts';
import { unwrap } from '../vast/unwrap.ts';
import { keepVastRun, type VastRun } from '../vast/vast-run.ts';
import type { FetchedDocument, Resolution } from '../vast/wrapper-chain.ts';
import type { CaptureTarget, Visit } from './target.ts';
import { visitOutcome } from './vast-outcome.ts';

/** A video ad: its wrapper chain is followed and its video is played on the harness page; the tabs that the click opened are its landings. */
export const vastTag: CaptureTarget = {
  prepare: authenticate,
  visit,
  collectors: {
    whileOpen: whileOpen.flatMap((one) => (one === screenshots ? [screenshots, pageScreenshot] : [one])),
    afterwards: [...afterwards, vast],
  },
  landings: creativeLandings,
  subject: () => undefined,
};

/** The player's maximum width, in CSS pixels. */
const PLAYER_WIDTH = 640;
const TITLE = 'Video';
const MARKUP =
  '<!doctype html><html><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">' +
  `<link rel="icon" href="data:,"><title>${TITLE}</title><style>body{margin:0}</style></head><body></body></html>`;

/** Fetches the tag, follows its wrapper chain and plays its ads. A tag without an ad is a failure of the scan. */
async function visit(captureSession: CaptureSession, request: CaptureRequest): Promise<Visit> {
  const { target, referrer } = request;
  const url = publisherUrl(referrer, namedIn(target.value));
  const content = { url, fragment: publisherFragment(referrer), markup: MARKUP, named: target.value };
  const harness = await openHarnessPage(captureSession, content);
  if (!harness) return { error: '', failure: captureSession.ending.failure };
  const page = new PlayerPage(captureSession, harness);
  const responses = await ResponseInterceptor.start(harness.page, new URL(url).origin);
  const player = await newPlayer(captureSession, request, page, responses);
  const resolution = await resolve(captureSession, request, player);
  const run: VastRun = { resolution, played: [], log: player.log };
  keepVastRun(captureSession, run);
  const facts = { url, ...player.size, page_url: url, page_title: TITLE };
  captureSession.creative = { tab: harness.tab, frameId: harness.tab.tab.session.targetId, facts, files: player.files };
  await fireErrors(player.log, resolution);
  await playAds(player, resolution, run.played);
  if (captureSession.ending.failure) return { error: '', failure: captureSession.ending.failure };
  return visitOutcome(resolution, captureSession.journal);
}

async function newPlayer(
  captureSession: CaptureSession,
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
  const log = new TrackerLog(page, captureSession.startedAtMs, () => ({
    now: new Date(),
    pageUrl: page.url,
    userAgent,
    player: { ...size, muted: true },
    transactionId,
  }));
  const { journal } = captureSession;
  return {
    page,
    log,
    journal,
    responses,
    emulator,
    size,
    pixelWidth: width * deviceScaleFactor,
    click: clickOnce(captureSession, page, size),
    files: [],
  };
}

async function resolve(
  captureSession: CaptureSession,
  { target }: CaptureRequest,
  { page, responses, log }: Player,
): Promise<Resolution> {
  const fetchDocument = documentFetcher(captureSession, page, responses, (url) => log.fill(null, url, {}));
  const isUrl = /^\s*https?:/i.test(target.value);
  const root = isUrl ? await fetchDocument(target.value.trim()) : given(target.value, page.url);
  return unwrap(root, fetchDocument);
}

/** A document that the client sent; its URLs are relative to the page that hosts the player. */
const given = (text: string, url: string): FetchedDocument => ({
  url,
  statusCode: 200,
  contentType: 'application/xml',
  text,
  fault: '',
  readable: true,
  atMs: 0,
  elapsedMs: 0,
});

/** Clicks in the middle of the player, once for the whole tag. */
function clickOnce(
  captureSession: CaptureSession,
  page: PlayerPage,
  { width, height }: Player['size'],
): Player['click'] {
  let isClicked = false;
  return async (url, trackers) => {
    if (isClicked || page.isGone) return;
    isClicked = true;
    await page.onClick(url, trackers);
    await followClick(captureSession, page.harness, page.frames(), [{ x: width / 2, y: height / 2 }]);
  };
}

/** The URL of the tag or, of a document, the first of its wrapper's, media files' and trackers' URLs; XML namespaces do not count. */
function namedIn(tag: string): string {
  const [ad] = parseVast(tag)?.ads ?? [];
  const files = ad?.linears.flatMap(({ mediaFiles }) => mediaFiles.map(({ url }) => url)) ?? [];
  const named = [ad?.wrapper?.uri, ...files, ...(ad?.trackers.map(({ url }) => url) ?? [])];
  return named.find((url) => url && /^https?:/i.test(url)) ?? (/^\s*https?:/i.test(tag) ? tag : '');
}
