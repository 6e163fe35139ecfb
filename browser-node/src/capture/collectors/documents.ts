import type { CapturedDocument } from '@adsweep/shared/capture/artifacts.ts';
import { type Note, type NoteKind, note } from '@adsweep/shared/capture/notes.ts';
import { CAPTURE_URL_LENGTH_MAX } from '@adsweep/shared/limits.ts';
import { type DocumentFacts, readDocument } from '../page-scripts/read-document.ts';
import { browserTitle } from '../session/browser-title.ts';
import {
  DOCUMENTS_LENGTH_MAX,
  HTML_LENGTH_MAX,
  TEXT_LENGTH_MAX,
  TITLE_LENGTH_MAX,
  underLoad,
} from '../session/budgets.ts';
import type { CaptureSession } from '../session/capture-session.ts';
import { isGone, readFrames } from '../session/frames.ts';
import type { Landing } from '../session/landings.ts';
import { plainText } from '../session/plain-text.ts';
import { NO_TEXT, readFrameTexts } from '../texts/frame-texts.ts';
import type { Collector } from './collector.ts';
import { watchDrawn } from './drawn-text.ts';

/** The documents of landings and their frames: title, visible text and rendered HTML. What was read in time is kept. */
export const documents: Collector = {
  name: 'documents',
  start(capture) {
    const drawn = watchDrawn(capture);
    return async (draft) => {
      let left = DOCUMENTS_LENGTH_MAX;
      for (const landing of capture.landings.shown()) {
        const captured = draft.landings.find(({ ord }) => ord === landing.ord);
        const { documents, notes } = await documentsOf(capture, landing, drawn);
        capture.notes.push(...notes);
        const own = documents.find(({ frame }) => frame === '');
        if (captured) {
          captured.page_title = own?.title ?? (await browserTitle(capture, landing.tab.session, landing.ord));
          captured.site_name = own?.siteName ?? '';
        }
        for (const { siteName: _, ...document } of documents) {
          const length = document.html.length + document.text.length;
          // A huge frame must not hide those after it.
          if (length > left) {
            capture.notes.push(note('text_part', { landing: landing.ord }));
            continue;
          }
          draft.documents.push(document);
          left -= length;
        }
      }
    };
  },
};

/** Time to read one frame. */
const FRAME_READ_MS = 3_000;
const LIMITS = { html: HTML_LENGTH_MAX, title: TITLE_LENGTH_MAX, url: CAPTURE_URL_LENGTH_MAX };

type LandingDocument = CapturedDocument & Pick<DocumentFacts, 'siteName'>;

/** The documents of a landing, and what is missing of them. */
export async function documentsOf(
  capture: CaptureSession,
  { ord: landing, tab }: Landing,
  drawn: (frameId: string) => string,
): Promise<{ documents: LandingDocument[]; notes: Note[] }> {
  const deadlineMs = underLoad(capture, FRAME_READ_MS);
  const reading = { script: readDocument, argument: LIMITS, deadlineMs };
  const { read, unread, unlike } = await readFrames(capture, tab.session, reading);
  const answered = read.flatMap(({ at, result }) => (result ? [at] : []));
  const texts = await readFrameTexts(capture, answered, underLoad(capture, FRAME_READ_MS), drawn);
  // One that was removed meanwhile, as by a slot that refreshes, has no text that could be read.
  const unseen = answered.filter(({ frameId }) => texts.get(frameId)?.page_length === undefined);
  const areGone = await Promise.all(unseen.map((at) => isGone(capture, at)));
  const gone = new Set(unseen.filter((_, index) => areGone[index]).map(({ frameId }) => frameId));
  const documents = read.flatMap(({ at: { session, frameId }, result }): LandingDocument[] => {
    const isOwn = session === tab.session && frameId === session.targetId;
    if (!result) return [];
    const { shadowHtml, ...text } = texts.get(frameId) ?? NO_TEXT;
    const html = result.html.slice(0, HTML_LENGTH_MAX - (shadowHtml?.length ?? 0)) + (shadowHtml ?? '');
    const [title, siteName] = [plainText(result.title), plainText(result.siteName)];
    return [{ landing, frame: isOwn ? '' : frameId, url: result.url, title, siteName, html, ...text }];
  });
  const isOwnUnread = documents.every(({ frame }) => frame !== '');
  const counts: [NoteKind, number][] = [
    ['text', isOwnUnread ? 1 : 0],
    ['frames', isOwnUnread ? unread - 1 : unread],
    ['frames_beyond_limit', unlike],
    ['text_part', documents.filter((one) => isIncomplete(one) && !gone.has(one.frame)).length],
    ['forms', [...texts.values()].filter(({ shadowHtml }) => shadowHtml === null).length],
    ['html_part', documents.filter(({ html }) => html.length >= HTML_LENGTH_MAX).length],
  ];
  return { documents, notes: counts.flatMap(([kind, count]) => (count > 0 ? [note(kind, { landing, count })] : [])) };
}

/** Whether the text of a document was cut, or is only what a script sees of it. */
const isIncomplete = ({ text, page_length }: CapturedDocument): boolean =>
  text.length >= TEXT_LENGTH_MAX || page_length === undefined;
