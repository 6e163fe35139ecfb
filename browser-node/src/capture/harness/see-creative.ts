import { CONTENT_TYPES, CREATIVE_HTML, CREATIVE_SCREENSHOT } from '@adsweep/shared/capture/artifacts.ts';
import { jpegSize } from '@adsweep/shared/capture/picture-size.ts';
import { WEBP_SIDE_MAX } from '@adsweep/shared/limits.ts';
import { evaluateInIsolatedWorld } from '../devtools/isolated-world.ts';
import type { Box } from '../page-scripts/measure-visuals.ts';
import { readMarkup } from '../page-scripts/read-document.ts';
import { ANSWER_MS, HTML_LENGTH_MAX, SCREENSHOT_MS, TITLE_LENGTH_MAX, underLoad } from '../session/budgets.ts';
import type { CaptureFile } from '../session/capture-outcome.ts';
import type { CaptureSession } from '../session/capture-session.ts';
import type { SeenCreative } from '../session/seen-creative.ts';
import { chooseCreative, innermostWithUrl, pathOf } from './choose-creative.ts';
import type { HarnessPage } from './harness-page.ts';
import { type MeasuredFrame, measureFrames } from './measure-frames.ts';
import { SLOT } from './placement.ts';

/** A creative with the frames that show it, from the innermost up, all frames of its tab, and its box; null = nothing is rendered. */
export type FoundCreative = { seen: SeenCreative; path: MeasuredFrame[]; frames: MeasuredFrame[]; box: Box | null };

/** Finds the creative on the harness, measures and pictures it and reads its markup. `isPage`: the tag is the address of a page with it. */
export async function seeCreative(
  captureSession: CaptureSession,
  harness: HarnessPage,
  isPage: boolean,
): Promise<FoundCreative> {
  const { session } = harness.tab.tab;
  const { frames, rootId, place } = await findCreative(captureSession, harness, isPage);
  const path = pathOf(frames, place?.frameId ?? rootId) as MeasuredFrame[];
  const document = innermostWithUrl(path);
  const [innermost] = path;
  const files = [
    ...(place ? await pictured(captureSession, harness, place.box) : []),
    ...(innermost ? await marked(captureSession, innermost, session.targetId) : []),
  ];
  const title = await harness.page.title().catch(() => '');
  const facts = {
    url: document?.url ?? harness.url,
    width: Math.round(place?.box.width ?? 0),
    height: Math.round(place?.box.height ?? 0),
    page_url: harness.publisherUrl,
    page_title: title.slice(0, TITLE_LENGTH_MAX).toWellFormed(),
  };
  const seen = { tab: harness.tab, frameId: document?.frameId ?? session.targetId, facts, files };
  return { seen, path, frames, box: place?.box ?? null };
}

/** Whether anything has been rendered. */
export const isRendered = async (
  captureSession: CaptureSession,
  harness: HarnessPage,
  isPage: boolean,
): Promise<boolean> => (await findCreative(captureSession, harness, isPage)).place !== null;

/** Where the creative is shown now, null = nowhere, with all frames of its tab. */
export async function findCreative(captureSession: CaptureSession, { tab }: HarnessPage, isPage: boolean) {
  const { session } = tab.tab;
  const frames = await measureFrames(captureSession, session);
  const rootId = (isPage && frames.find(({ parentId }) => parentId === session.targetId)?.frameId) || session.targetId;
  return { frames, rootId, place: chooseCreative(frames, rootId, isPage) };
}

/** The picture of a box at its size. The first picture of all: by then nothing that happens without a click is looked for. */
async function pictured(captureSession: CaptureSession, { page }: HarnessPage, box: Box): Promise<CaptureFile[]> {
  const [x, y] = [Math.max(0, box.x), Math.max(0, box.y)];
  const clip = { x, y, width: Math.min(box.width, WEBP_SIDE_MAX / 4), height: Math.min(box.height, WEBP_SIDE_MAX / 4) };
  const timeout = underLoad(captureSession, SCREENSHOT_MS);
  const taking = page.screenshot({ type: 'jpeg', quality: 90, fullPage: true, clip, caret: 'initial', timeout });
  const bytes = await captureSession.ending.race(taking.catch((cause) => noted(captureSession, cause)));
  const size = bytes && jpegSize(bytes);
  return size ? [{ name: CREATIVE_SCREENSHOT, contentType: CONTENT_TYPES.jpeg, bytes, ...size }] : [];
}

function noted(captureSession: CaptureSession, cause: unknown): null {
  captureSession.logger.info({ cause }, 'no screenshot of a creative could be taken');
  captureSession.notes.push({ collector: 'creative', text: 'no screenshot of the creative could be taken' });
  return null;
}

async function marked(captureSession: CaptureSession, frame: MeasuredFrame, ownId: string): Promise<CaptureFile[]> {
  const { session, frameId } = frame.at;
  const wanted = { slot: frameId === ownId ? SLOT : null, length: HTML_LENGTH_MAX };
  const deadlineMs = underLoad(captureSession, ANSWER_MS);
  const reading = evaluateInIsolatedWorld(session, frameId, readMarkup, wanted, deadlineMs).catch(() => '');
  const markup = (await captureSession.ending.race(reading)) ?? '';
  if (markup === '') return [];
  const bytes = Buffer.from(markup.toWellFormed());
  return [{ name: CREATIVE_HTML, contentType: CONTENT_TYPES.text, bytes, width: 0, height: 0 }];
}
