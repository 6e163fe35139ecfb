import { CONTENT_TYPES, CREATIVE_HTML, CREATIVE_SCREENSHOT } from '@adsweep/shared/capture/artifacts.ts';
import type { CapturedCreative } from '@adsweep/shared/capture/creative.ts';
import { note } from '@adsweep/shared/capture/notes.ts';
import { jpegSize } from '@adsweep/shared/capture/picture-size.ts';
import { WEBP_SIDE_MAX } from '@adsweep/shared/limits.ts';
import type { Box } from '../box.ts';
import { evaluateInIsolatedWorld } from '../devtools/isolated-world.ts';
import { pageStart } from '../devtools/page-start.ts';
import { readMarkup } from '../page-scripts/read-document.ts';
import { browserTitle } from '../session/browser-title.ts';
import { ANSWER_MS, HTML_LENGTH_MAX, SCREENSHOT_MS, TITLE_LENGTH_MAX, underLoad } from '../session/budgets.ts';
import type { CaptureFile } from '../session/capture-outcome.ts';
import type { CaptureSession } from '../session/capture-session.ts';
import { readFrames } from '../session/frames.ts';
import type { OpenTab } from '../session/open-tabs.ts';
import { chooseCreative, innermostWithUrl, pathOf } from './choose-creative.ts';
import { type Clickable, clickablesUnder, gridOver } from './clickables.ts';
import type { HarnessPage } from './harness-page.ts';
import { type MeasuredFrame, measureFrames } from './measure-frames.ts';
import { SLOT } from './placement.ts';

/** How many elements of a creative were clicked, and the first that opened nothing, '' = all opened something. */
export type Interactivity = { clicked: number; inert: string };

/** The creative of an ad tag or VAST tag as it was found, with its screenshot and HTML as files. */
export type SeenCreative = {
  tab: OpenTab;
  /** CDP's id of the innermost frame that shows it and has a URL of its own. */
  frameId: string;
  facts: Omit<CapturedCreative, 'redirect_chain'>;
  /** It is an ad on a page with other content, and has no redirect chain of its own (spec 2.1). */
  isOnPage?: true;
  files: CaptureFile[];
  /**
   * Clicks its buttons and links to find out whether some open nothing; called once its landings are captured. Takes
   * `budgetMs` at most. Absent: it is not checked.
   */
  checkInteractive?: (budgetMs: number) => Promise<Interactivity>;
};

/**
 * A creative with the frames that show it, from the innermost up, all frames of its tab, and its box; null: nothing is
 * rendered.
 */
export type FoundCreative = {
  creative: SeenCreative;
  path: MeasuredFrame[];
  frames: MeasuredFrame[];
  box: Box | null;
};

/**
 * Finds the creative on a harness page, measures it, takes its screenshot and reads its HTML. `isPage`: the tag is the
 * URL of a page with it.
 */
export async function seeCreative(
  session: CaptureSession,
  harness: HarnessPage,
  isPage: boolean,
): Promise<FoundCreative> {
  const { targetId } = harness.tab.tab.session;
  const { frames, rootId, place } = await findCreative(session, harness, isPage);
  if (!place) await noteSilentFrames(session, harness);
  const path = pathOf(frames, place?.frameId ?? rootId) as MeasuredFrame[];
  const document = innermostWithUrl(path);
  const [innermost] = path;
  const files = [
    ...(place ? await screenshotOf(session, harness, place.box) : []),
    ...(innermost ? await htmlOf(session, innermost, targetId) : []),
  ];
  const title = await titleOf(session, targetId, harness);
  const facts = {
    url: document?.url ?? harness.url,
    width: Math.round(place?.box.width ?? 0),
    height: Math.round(place?.box.height ?? 0),
    page_url: harness.publisherUrl,
    page_title: title.toWellFormed(),
  };
  const creative = { tab: harness.tab, frameId: document?.frameId ?? targetId, facts, files };
  return { creative, path, frames, box: place?.box ?? null };
}

/** A creative that is not found may be in a frame that does not answer. */
async function noteSilentFrames(session: CaptureSession, { tab }: HarnessPage): Promise<void> {
  const asking = { script: isThere, argument: null, deadlineMs: underLoad(session, ANSWER_MS) };
  const asked = await session.ending.race(readFrames(session, tab.tab.session, asking));
  if (asked && asked.unread > 0) session.notes.push(note('creative'));
}

/** Runs in a frame, in an isolated world. */
const isThere = (): boolean => true;

/** Playwright's own `title` grants the page user activation, as an ad can tell. */
async function titleOf(session: CaptureSession, targetId: string, { tab }: HarnessPage): Promise<string> {
  const deadlineMs = underLoad(session, ANSWER_MS);
  const reading = evaluateInIsolatedWorld(tab.tab.session, targetId, readTitle, TITLE_LENGTH_MAX, deadlineMs);
  const known = reading.catch(() => browserTitle(session, tab.tab.session, null));
  return (await session.ending.race(known)) ?? '';
}

/** Runs in the page, in an isolated world: elements of the page shadow properties of its document. */
const readTitle = (length: number): string =>
  String(Reflect.get(Document.prototype, 'title', document)).slice(0, length);

/** Whether the tag has rendered anything. */
export const isRendered = async (session: CaptureSession, harness: HarnessPage, isPage: boolean): Promise<boolean> =>
  (await findCreative(session, harness, isPage)).place !== null;

/** Where the creative is shown now, null: nowhere; with all frames of its tab. */
async function findCreative(captureSession: CaptureSession, { tab }: HarnessPage, isPage: boolean) {
  const { session } = tab.tab;
  const frames = await measureFrames(captureSession, session);
  const rootId = (isPage && frames.find(({ parentId }) => parentId === session.targetId)?.frameId) || session.targetId;
  return { frames, rootId, place: chooseCreative(frames, rootId, isPage) };
}

/** The elements that look clickable on the creative as it is shown now. */
export async function clickablesOf(
  session: CaptureSession,
  harness: HarnessPage,
  isPage: boolean,
): Promise<Clickable[]> {
  const { frames, place } = await findCreative(session, harness, isPage);
  const view = harness.page.viewportSize();
  return place && view ? clickablesUnder(session, frames, gridOver(place.box, view)) : [];
}

/**
 * A screenshot of a box. Taken before the first click, so it must not look like one: Playwright's own grants the page
 * user activation.
 */
async function screenshotOf(session: CaptureSession, harness: HarnessPage, box: Box): Promise<CaptureFile[]> {
  const taking = screenshotOfBox(session, harness, box);
  const bytes = await session.ending.race(taking.catch((cause) => noteFailure(session, cause)));
  const size = bytes && jpegSize(bytes);
  return size ? [{ name: CREATIVE_SCREENSHOT, contentType: CONTENT_TYPES.jpeg, bytes, ...size }] : [];
}

/** A JPEG screenshot of a box of a harness page, which may reach beyond the viewport. Runs no script in the page. */
export async function screenshotOfBox(session: CaptureSession, { page, tab }: HarnessPage, box: Box): Promise<Buffer> {
  const { session: target } = tab.tab;
  const start = pageStart(await target.send('Page.getLayoutMetrics', undefined, underLoad(session, ANSWER_MS)));
  const [x, y] = [Math.max(0, box.x + start.x), Math.max(0, box.y + start.y)];
  const clip = { x, y, width: Math.min(box.width, WEBP_SIDE_MAX / 4), height: Math.min(box.height, WEBP_SIDE_MAX / 4) };
  const view = page.viewportSize();
  const [right, bottom] = [x - start.x + clip.width, y - start.y + clip.height];
  const beyondView = !view || x < start.x || right > view.width || bottom > view.height;
  const part = { clip, beyondView, quality: 90 };
  return session.open.screenshot(target.targetId, part, underLoad(session, SCREENSHOT_MS));
}

function noteFailure({ logger, notes }: CaptureSession, cause: unknown): null {
  logger.info({ cause }, 'no screenshot of a creative could be taken');
  notes.push(note('creative_picture'));
  return null;
}

/**
 * The HTML of the creative's innermost document; of the harness page, identified by `pageFrameId`, only the placement.
 */
async function htmlOf(session: CaptureSession, { at }: MeasuredFrame, pageFrameId: string): Promise<CaptureFile[]> {
  const wanted = { slot: at.frameId === pageFrameId ? SLOT : null, length: HTML_LENGTH_MAX };
  const deadlineMs = underLoad(session, ANSWER_MS);
  const reading = evaluateInIsolatedWorld(at.session, at.frameId, readMarkup, wanted, deadlineMs).catch(() => null);
  const markup = await session.ending.race(reading);
  if (markup === null) session.notes.push(note('creative_html'));
  if (!markup) return [];
  const bytes = Buffer.from(markup.toWellFormed());
  return [{ name: CREATIVE_HTML, contentType: CONTENT_TYPES.text, bytes, width: 0, height: 0 }];
}
