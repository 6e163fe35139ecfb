import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { type CapturedDocument, DOCUMENTS } from '@adsweep/shared/capture/artifacts.ts';
import { CAPTURE_URL_LENGTH_MAX } from '@adsweep/shared/limits.ts';
import { evaluateInIsolatedWorld } from '../devtools/isolated-world.ts';
import { type DocumentFacts, readDocument } from '../page-scripts/read-document.ts';
import {
  DOCUMENTS_LENGTH_MAX,
  FRAMES_MAX,
  HTML_LENGTH_MAX,
  TEXT_LENGTH_MAX,
  TITLE_LENGTH_MAX,
  underLoad,
} from '../session/budgets.ts';
import type { CaptureSession } from '../session/capture-session.ts';
import { FairList } from '../session/fair-list.ts';
import { type FrameAt, framesOf } from '../session/frames.ts';
import type { Landing } from '../session/landings.ts';
import type { Collector } from './collector.ts';

/** The documents of landings and their frames: title, visible text and rendered HTML. */
export const documents: Collector = {
  name: 'documents',
  start: (capture) => async (draft) => {
    const kept: CapturedDocument[] = [];
    let room = DOCUMENTS_LENGTH_MAX;
    for (const landing of capture.landings.shown()) {
      for (const document of await documentsOf(capture, landing)) {
        const captured = draft.landings.find(({ ord }) => ord === landing.ord);
        if (captured && document.frame === '') {
          captured.page_title = document.title;
          captured.site_name = document.siteName;
        }
        room -= document.html.length + document.text.length;
        // A huge frame must not hide those after it.
        if (room < 0) {
          room += document.html.length + document.text.length;
          continue;
        }
        const { siteName: _, ...rest } = document;
        kept.push(rest);
      }
    }
    if (kept.length === 0) return;
    const bytes = await promisify(gzip)(JSON.stringify(kept), { level: 3 });
    draft.files.push({ name: DOCUMENTS, contentType: 'application/gzip', bytes, width: 0, height: 0 });
  },
};

/** Time to read one frame. */
const FRAME_READ_MS = 3_000;

async function documentsOf(
  capture: CaptureSession,
  { ord, tab }: Landing,
): Promise<(CapturedDocument & DocumentFacts)[]> {
  const frames = selectFrames(await framesOf(capture, tab.session));
  const read = await Promise.all(frames.map((at) => readFrame(capture, at)));
  return read.flatMap((facts, index) => {
    const { session, frameId } = frames[index] as FrameAt;
    const isOwn = session === tab.session && frameId === session.targetId;
    return facts ? [{ landing: ord, frame: isOwn ? '' : frameId, ...facts }] : [];
  });
}

/** Up to {@link FRAMES_MAX} frames, the tab's own document first; of many with the same URL, such as empty ones, some are left out. */
function selectFrames(frames: FrameAt[]): FrameAt[] {
  const kept = new FairList<FrameAt>(FRAMES_MAX);
  for (const frame of frames) kept.add(frame, frame === frames[0] ? 'own' : (frame.url.split(/[?#]/)[0] as string));
  return [...kept];
}

async function readFrame(capture: CaptureSession, { session, frameId }: FrameAt): Promise<DocumentFacts | null> {
  const limits = { html: HTML_LENGTH_MAX, text: TEXT_LENGTH_MAX, title: TITLE_LENGTH_MAX, url: CAPTURE_URL_LENGTH_MAX };
  const facts = await evaluateInIsolatedWorld(
    session,
    frameId,
    readDocument,
    limits,
    underLoad(capture, FRAME_READ_MS),
  ).catch(() => null);
  return facts && { ...facts, title: clean(facts.title), siteName: clean(facts.siteName) };
}

/** Text without lone surrogates and control characters, so that it can be stored and shown. */
const clean = (text: string): string =>
  text
    .toWellFormed()
    .replace(/\p{Cc}+/gu, ' ')
    .trim();
