import type { CapturedDocument } from '@adsweep/shared/capture/artifacts.ts';
import { type Snapshot, takeSnapshot } from '../devtools/dom-snapshot.ts';
import { evaluateInIsolatedWorld } from '../devtools/isolated-world.ts';
import { readText } from '../page-scripts/read-document.ts';
import { TEXT_LENGTH_MAX } from '../session/budgets.ts';
import type { CaptureSession } from '../session/capture-session.ts';
import type { FrameAt } from '../session/frames.ts';
import { BoxVisibility, type Visibility, visibilityInFrame } from './box-visibility.ts';
import { type DocumentText, readDocumentText } from './document-text.ts';
import { readShadowRoots } from './shadow-roots.ts';
import { SnapshotDocument } from './snapshot-document.ts';

/**
 * The text of a frame's document as in a capture, and the HTML of its shadow roots; null: not all of them could be
 * read.
 */
export type FrameText = Pick<CapturedDocument, 'text' | 'viewport_length' | 'page_length'> & {
  shadowHtml: string | null;
};
export const NO_TEXT: FrameText = { text: '', shadowHtml: '' };

/** A frame whose document is in a snapshot; `index`: that of the document there. */
type Snapped = { at: FrameAt; index: number; document: SnapshotDocument; boxes: BoxVisibility };

/**
 * The texts of frames by their ids, from one snapshot of each process. `drawn`: what a frame has drawn on its canvases.
 * Where a snapshot is not possible, the text is what a script reads; a frame that does not answer has none. Keeps
 * shadow roots for the scripts that read these documents later.
 */
export async function readFrameTexts(
  { logger }: Pick<CaptureSession, 'logger'>,
  frames: readonly FrameAt[],
  deadlineMs: number,
  drawn: (frameId: string) => string,
): Promise<Map<string, FrameText>> {
  const until = performance.now() + deadlineMs;
  const leftMs = () => Math.max(1, until - performance.now());
  const sessions = [...new Set(frames.map(({ session }) => session))];
  const snapshots = await Promise.all(
    sessions.map((session) =>
      takeSnapshot(session, leftMs()).catch((cause) => {
        logger.info({ cause }, 'no snapshot of a document could be taken');
        return null;
      }),
    ),
  );
  const snapped = frames.flatMap((at) => findIn(snapshots[sessions.indexOf(at.session)] ?? null, at));
  const byFrame = new Map(snapped.map((one) => [one.at.frameId, one]));
  const shadows = new Map(
    await Promise.all(
      snapped.map(async ({ at, document }): Promise<[string, string | null]> => {
        return [at.frameId, await readShadowRoots(at, document.shadowHosts(), leftMs())];
      }),
    ),
  );
  const visibilityOf = frameVisibility(byFrame, leftMs);
  const read = async (at: FrameAt): Promise<FrameText | null> => {
    const own = byFrame.get(at.frameId);
    if (own) {
      const text = readDocumentText(own.document, own.boxes, await visibilityOf(at), drawn(at.frameId));
      return asCaptured(text, shadows.get(at.frameId) ?? null);
    }
    const reading = evaluateInIsolatedWorld(at.session, at.frameId, readText, TEXT_LENGTH_MAX, leftMs());
    // A frame that does not answer is one that could not be read at all.
    const text = await reading.catch(() => null);
    return text === null ? null : { ...NO_TEXT, text };
  };
  const texts = await Promise.all(frames.map(read));
  return new Map(frames.flatMap(({ frameId }, index) => (texts[index] ? [[frameId, texts[index]]] : [])));
}

function findIn(snapshot: Snapshot | null, at: FrameAt): Snapped[] {
  const index = snapshot?.documents.findIndex(({ frameId }) => snapshot.strings[frameId] === at.frameId) ?? -1;
  const found = snapshot?.documents[index];
  if (!snapshot || !found) return [];
  const document = new SnapshotDocument(snapshot, found);
  return [{ at, index, document, boxes: new BoxVisibility(document) }];
}

const asCaptured = ({ text, viewportLength, pageLength }: DocumentText, shadowHtml: string | null): FrameText => ({
  text: text.slice(0, TEXT_LENGTH_MAX).toWellFormed(),
  viewport_length: Math.min(TEXT_LENGTH_MAX, viewportLength),
  page_length: Math.min(TEXT_LENGTH_MAX, pageLength),
  shadowHtml,
});

/**
 * Finds where a frame can be seen, through all its parents; a frame whose parent is in no snapshot counts as in the
 * viewport.
 */
function frameVisibility(
  snapped: ReadonlyMap<string, Snapped>,
  leftMs: () => number,
): (at: FrameAt) => Promise<Visibility> {
  const known = new Map<string, Promise<Visibility>>();
  const find = async (at: FrameAt): Promise<Visibility> => {
    const parent = at.parentId === null ? undefined : snapped.get(at.parentId);
    if (!parent) return 'viewport';
    const element = await elementIn(parent, at, snapped.get(at.frameId), leftMs()).catch(() => -1);
    // A frame that was removed meanwhile is not seen; nor is one that has no box.
    return visibilityInFrame(await visibilityOf(parent.at), parent.boxes.ofNode(element) ?? 'unseen');
  };
  const visibilityOf = (at: FrameAt): Promise<Visibility> => {
    const visibility = known.get(at.frameId) ?? find(at);
    known.set(at.frameId, visibility);
    return visibility;
  };
  return visibilityOf;
}

/** The node of a frame's element in its parent document; -1: it is not there. */
async function elementIn(parent: Snapped, at: FrameAt, own: Snapped | undefined, deadlineMs: number): Promise<number> {
  if (own && at.session === parent.at.session) return parent.document.frameElementOf(own.index);
  const { backendNodeId } = await parent.at.session.send('DOM.getFrameOwner', { frameId: at.frameId }, deadlineMs);
  return parent.document.nodeWithBackendId(backendNodeId);
}
