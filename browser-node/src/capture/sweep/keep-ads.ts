import {
  CONTENT_TYPES,
  CREATIVE_HTML,
  CREATIVE_SCREENSHOT,
  PAGE_SCREENSHOT,
} from '@adsweep/shared/capture/artifacts.ts';
import { type Note, note } from '@adsweep/shared/capture/notes.ts';
import { jpegSize } from '@adsweep/shared/capture/picture-size.ts';
import { evaluateInIsolatedWorld } from '../devtools/isolated-world.ts';
import type { FoundAd } from '../discovery/found-ad.ts';
import { innermostWithUrl, pathOf } from '../harness/choose-creative.ts';
import type { MeasuredFrame } from '../harness/measure-frames.ts';
import type { SeenCreative } from '../harness/see-creative.ts';
import type { Box } from '../page-scripts/measure-visuals.ts';
import { readMarkup } from '../page-scripts/read-document.ts';
import { browserTitle } from '../session/browser-title.ts';
import { ANSWER_MS, HTML_LENGTH_MAX, SCREENSHOT_MS, underLoad } from '../session/budgets.ts';
import type { CaptureFile } from '../session/capture-outcome.ts';
import type { CaptureSession } from '../session/capture-session.ts';
import { StoredFile } from '../session/stored-file.ts';
import { hideOverlay, showCovers } from './ad-place.ts';
import { type ShownAd, showAd } from './show-ad.ts';

/** What is kept of an ad from the moment in which it was found: it may be gone when its turn comes. */
export type KeptAd = { facts: SeenCreative['facts']; frameId: string; files: CaptureFile[]; notes: Note[] };

/** Takes the screenshots of ads and reads their markup, by the identity of each. Those that lie over the page come first. */
export async function keepAds(session: CaptureSession, ads: readonly FoundAd[]): Promise<Map<string, KeptAd>> {
  const kept = new Map<string, KeptAd>();
  const blocks = ads.filter(({ element }) => element !== null);
  const over = blocks.filter(({ coversPage }) => coversPage);
  for (const ad of [...over, ...blocks.filter((one) => !over.includes(one))]) {
    if (session.ending.failure) break;
    kept.set(ad.block.identity, await keepAd(session, ad));
    if (over.includes(ad)) await hideOverlay(session, ad);
  }
  for (const ad of over) await showCovers(session, ad);
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
  const pictures = box ? await picturesOf(session, ad, box) : [];
  if (pictures.length < 2) notes.push(note('creative_picture'));
  if (block.ad_kind === 'banner' && markup === null) notes.push(note('creative_html'));
  const { width, height } = box ?? size;
  return {
    facts: { url: document?.url ?? tab.tab.url, width: Math.round(width), height: Math.round(height), ...about },
    frameId: document?.frameId ?? tab.tab.session.targetId,
    files: [...pictures, ...(markup ? [markup] : [])],
    notes,
  };
}

/** The innermost frame that shows most of an ad; undefined: the ad is part of a document with other content. */
function innermostOf({ ad: { frameIds }, frames, box }: ShownAd): MeasuredFrame | undefined {
  const area = (one: { width: number; height: number } | null) => (one ? one.width * one.height : 0);
  const isInside = (frame: MeasuredFrame) =>
    pathOf(frames, frame.frameId).some(({ frameId }) => frameIds.includes(frameId));
  const shown = frames.filter((frame) => isInside(frame) && area(frame.box) * 2 >= area(box));
  return shown.at(-1);
}

/** The screenshots of an ad and of what is in view around it. */
async function picturesOf(session: CaptureSession, { tab }: FoundAd, box: Box): Promise<CaptureFile[]> {
  const view = tab.page.viewportSize();
  if (!view) return [];
  const { session: target } = tab.tab;
  const deadlineMs = underLoad(session, ANSWER_MS);
  const metrics = await target.send('Page.getLayoutMetrics', undefined, deadlineMs).catch(() => null);
  if (!metrics) return [];
  const { pageX, pageY } = metrics.cssVisualViewport;
  const clips: [string, Box][] = [
    [CREATIVE_SCREENSHOT, inView(box, view)],
    [PAGE_SCREENSHOT, { x: 0, y: 0, ...view }],
  ];
  const files: CaptureFile[] = [];
  for (const [name, { x, y, ...size }] of clips) {
    if (size.width < 1 || size.height < 1) continue;
    const part = { clip: { x: x + pageX, y: y + pageY, ...size }, beyondView: false, quality: 90 };
    const taking = session.open.screenshot(target.targetId, part, underLoad(session, SCREENSHOT_MS));
    const bytes = await session.ending.race(taking.catch(() => null));
    const pixels = bytes && jpegSize(bytes);
    if (pixels) files.push({ name, contentType: CONTENT_TYPES.jpeg, bytes: await stored(bytes), ...pixels });
  }
  return files;
}

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
  const bytes = await stored(Buffer.from(markup.toWellFormed()));
  return { name: CREATIVE_HTML, contentType: CONTENT_TYPES.text, bytes, width: 0, height: 0 };
}

async function stored(bytes: Uint8Array): Promise<StoredFile> {
  const file = await StoredFile.create();
  file.append(bytes);
  return file.finish();
}
