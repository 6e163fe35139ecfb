import {
  CONTENT_TYPES,
  CREATIVE_HTML,
  CREATIVE_SCREENSHOT,
  PAGE_SCREENSHOT,
} from '@adsweep/shared/capture/artifacts.ts';
import { type Note, note } from '@adsweep/shared/capture/notes.ts';
import { jpegSize } from '@adsweep/shared/capture/picture-size.ts';
import sharp from 'sharp';
import { areaOf, type Box } from '../box.ts';
import { evaluateInIsolatedWorld } from '../devtools/isolated-world.ts';
import type { FoundAd } from '../discovery/found-ad.ts';
import { innermostWithUrl, pathOf } from '../harness/choose-creative.ts';
import type { MeasuredFrame } from '../harness/measure-frames.ts';
import type { SeenCreative } from '../harness/see-creative.ts';
import { readMarkup } from '../page-scripts/read-document.ts';
import { browserTitle } from '../session/browser-title.ts';
import { ANSWER_MS, HTML_LENGTH_MAX, KEEP_ADS_MS, SCREENSHOT_MS, underLoad } from '../session/budgets.ts';
import type { CaptureFile } from '../session/capture-outcome.ts';
import type { CaptureSession } from '../session/capture-session.ts';
import { StoredFile } from '../session/stored-file.ts';
import { drawn, hideOverlay, showAgain, uncover, viewOf } from './ad-place.ts';
import { type ShownAd, showAd } from './show-ad.ts';

/**
 * How often the picture of a frame of another site is taken again while it has one colour: on a slow machine, such a
 * frame is drawn late.
 */
const TAKEN_AGAIN_MAX = 2;

/**
 * What is kept of an ad from the moment in which it was found: it may be gone when its turn comes. `framedAt`: if
 * frames of another site show it, where in the page its picture was taken, in CSS pixels.
 */
export type KeptAd = {
  facts: SeenCreative['facts'];
  frameId: string;
  files: CaptureFile[];
  notes: Note[];
  framedAt: Box | null;
};

/**
 * Takes the screenshots of ads and reads their markup, by the identity of each. Those that cover the page come first.
 * Within a time: of an ad that is not reached, the caller keeps what it shows when its turn comes.
 */
export async function keepAds(session: CaptureSession, ads: readonly FoundAd[]): Promise<Map<string, KeptAd>> {
  const kept = new Map<string, KeptAd>();
  const until = performance.now() + KEEP_ADS_MS;
  const keep = async (some: readonly FoundAd[]) => {
    for (const ad of some)
      if (!session.ending.failure && performance.now() < until) kept.set(ad.block.identity, await keepAd(session, ad));
  };
  const blocks = ads.filter(({ element }) => element !== null);
  const over = blocks.filter(({ overlay }) => overlay !== null);
  await keep(over);
  // Not before: several ads may be on one overlay.
  for (const { overlay } of over) if (overlay) await hideOverlay(session, overlay);
  await keep(blocks.filter((one) => !over.includes(one)));
  if (over[0]) await showAgain(session, over[0].tab, 'overlays');
  return kept;
}

/** The same for one ad. Never throws: what is missing is noted. */
export async function keepAd(session: CaptureSession, ad: FoundAd): Promise<KeptAd> {
  const notes: Note[] = [];
  const { tab, block } = ad;
  const title = await browserTitle(session, tab.tab.session, null);
  const { x, y, ...size } = block;
  const about = { page_url: tab.tab.url, page_title: title.toWellFormed() };
  const shown = await showAd(session, ad);
  const { box, frames } = shown ?? { box: null, frames: [] };
  const innermost = shown ? innermostOf(shown) : undefined;
  const path = innermost ? (pathOf(frames, innermost.frameId) as MeasuredFrame[]) : [];
  const document = innermostWithUrl(path);
  // First what is lost when the slot refreshes: its place is still there then.
  const markup = block.ad_kind === 'banner' ? await markupInPlace(session, ad, shown) : null;
  const isFramed = shown !== null && framesIn(shown).some((frame) => frame.at.session !== tab.tab.session);
  const taken = shown && (await picturesOf(session, shown, isFramed));
  const { pictures, at } = taken ?? { pictures: [], at: null };
  if (pictures.length < 2) notes.push(note('creative_picture'));
  if (block.ad_kind === 'banner' && markup === null) notes.push(note('creative_html'));
  const { width, height } = box ?? size;
  return {
    facts: { url: document?.url ?? tab.tab.url, width: Math.round(width), height: Math.round(height), ...about },
    frameId: document?.frameId ?? tab.tab.session.targetId,
    files: [...pictures, ...(markup ? [markup] : [])],
    notes,
    framedAt: isFramed ? at : null,
  };
}

/** The frames that show an ad and those in them. */
const framesIn = ({ ad: { frameIds }, frames }: ShownAd): MeasuredFrame[] =>
  frames.filter((frame) => pathOf(frames, frame.frameId).some(({ frameId }) => frameIds.includes(frameId)));

/** The innermost frame that shows most of an ad; undefined: the ad is part of a document with other content. */
function innermostOf(shown: ShownAd): MeasuredFrame | undefined {
  return framesIn(shown).findLast((frame) => areaOf(frame.box) * 2 >= areaOf(shown.box));
}

/**
 * The screenshots of an ad, without what lies over it, and of what is in view around it; and where in the page that of
 * the ad was taken, null: something lies over it there. Null: the page does not answer.
 */
async function picturesOf(
  session: CaptureSession,
  { ad, box, frames }: ShownAd,
  isFramed: boolean,
): Promise<{ pictures: CaptureFile[]; at: Box | null } | null> {
  const { tab } = ad;
  const view = await viewOf(session, tab);
  if (!view) return null;
  const { x, y, ...size } = inView(box, view);
  // A consent wall would be all that the pictures of ads show.
  const isCovered = await uncover(session, ad, frames, { x: x + size.width / 2, y: y + size.height / 2 }, box);
  const at = { x: x + view.x, y: y + view.y, ...size };
  const { start: _, ...inPicture } = view;
  const clips: [string, Box][] = [
    [CREATIVE_SCREENSHOT, at],
    [PAGE_SCREENSHOT, inPicture],
  ];
  const pictures: CaptureFile[] = [];
  for (const [name, clip] of clips) {
    if (name === PAGE_SCREENSHOT) await showAgain(session, tab, 'covers', { ad, frames });
    if (clip.width < 1 || clip.height < 1) continue;
    // The frame has drawn when the ad's own picture is kept, so that the view is taken once.
    const bytes = await pictureOf(session, ad, clip, isFramed && name === CREATIVE_SCREENSHOT);
    const pixels = bytes && jpegSize(bytes);
    if (pixels)
      pictures.push({ name, contentType: CONTENT_TYPES.jpeg, bytes: await stored(session, bytes), ...pixels });
  }
  return { pictures, at: isCovered ? null : at };
}

/**
 * A screenshot of a part of the view, taken again while `mayBeLate` and it has one colour; null: none could be taken.
 */
async function pictureOf(session: CaptureSession, ad: FoundAd, clip: Box, mayBeLate: boolean): Promise<Buffer | null> {
  const take = (): Promise<Buffer | null> => {
    const part = { clip, beyondView: false, quality: 90 };
    const taking = session.open.screenshot(ad.tab.tab.session.targetId, part, underLoad(session, SCREENSHOT_MS));
    return session.ending.race(taking.catch(() => null));
  };
  let bytes = await take();
  for (let again = 0; mayBeLate && again < TAKEN_AGAIN_MAX; again += 1) {
    if (!bytes || !(await hasOneColour(bytes))) break;
    await session.ending.race(drawn(session, ad));
    bytes = (await take()) ?? bytes;
  }
  return bytes;
}

/** Whether a screenshot shows nothing but one colour; false if it cannot be read. */
export const hasOneColour = (jpeg: Buffer): Promise<boolean> =>
  sharp(jpeg)
    .stats()
    .then(
      ({ channels }) => channels.every(({ stdev }) => stdev < 1),
      () => false,
    );

/** The part of a box that is in view. */
function inView({ x, y, width, height }: Box, view: { width: number; height: number }): Box {
  const [left, top] = [Math.max(0, x), Math.max(0, y)];
  return {
    x: left,
    y: top,
    width: Math.min(x + width, view.width) - left,
    height: Math.min(y + height, view.height) - top,
  };
}

/** The markup of an ad; of the next one in its place, if it was replaced meanwhile. */
async function markupInPlace(session: CaptureSession, ad: FoundAd, shown: ShownAd | null): Promise<CaptureFile | null> {
  if (!shown) return markupOf(session, ad, undefined);
  const markup = await markupOf(session, shown.ad, innermostOf(shown));
  const next = markup ? null : await showAd(session, shown.ad);
  return next ? markupOf(session, next.ad, innermostOf(next)) : markup;
}

/** The markup of the document that shows an ad, or of its element; null: it could not be read. */
async function markupOf(
  session: CaptureSession,
  { element }: FoundAd,
  innermost: MeasuredFrame | undefined,
): Promise<CaptureFile | null> {
  const deadlineMs = underLoad(session, ANSWER_MS);
  const read = async () => {
    if (innermost) {
      const { session: target, frameId } = innermost.at;
      return evaluateInIsolatedWorld(target, frameId, readMarkup, { slot: null, length: HTML_LENGTH_MAX }, deadlineMs);
    }
    if (!element) return null;
    const { backendNodeId } = element;
    const { outerHTML } = await element.session.send('DOM.getOuterHTML', { backendNodeId }, deadlineMs);
    return outerHTML.slice(0, HTML_LENGTH_MAX);
  };
  const markup = await session.ending.race(read().catch(() => null));
  if (!markup) return null;
  const bytes = await stored(session, Buffer.from(markup.toWellFormed()));
  return { name: CREATIVE_HTML, contentType: CONTENT_TYPES.text, bytes, width: 0, height: 0 };
}

/** On the disk, so that many ads take no memory; as it is where it cannot be written, as on a full disk. */
async function stored({ logger }: CaptureSession, bytes: Uint8Array): Promise<CaptureFile['bytes']> {
  let file: StoredFile | null = null;
  try {
    file = await StoredFile.create();
    file.append(bytes);
    return await file.finish();
  } catch (cause) {
    logger.warn({ cause }, 'a file of an ad could not be written to the disk and is kept in memory');
    await file?.remove();
    return bytes;
  }
}
