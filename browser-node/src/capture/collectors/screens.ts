import type { CapturedDocument } from '@adsweep/shared/capture/artifacts.ts';
import type { CommandAnswer } from '../devtools/devtools.ts';
import { type DocumentSnapshot, type Snapshot, takeSnapshot } from '../devtools/dom-snapshot.ts';
import { evaluateInIsolatedWorld, isolatedWorldOf } from '../devtools/isolated-world.ts';
import { keepShadowRoots, readText } from '../page-scripts/read-document.ts';
import { HTML_LENGTH_MAX, TEXT_LENGTH_MAX } from '../session/budgets.ts';
import type { CaptureSession } from '../session/capture-session.ts';
import type { FrameAt } from '../session/frames.ts';
import { outerPlace, type Place, ScreenReader, type ScreenText } from './screen-text.ts';

/** The text of a document as in a capture, and the HTML of its shadow roots; null: not all of them could be read. */
export type Screen = Pick<CapturedDocument, 'text' | 'viewport_length' | 'page_length'> & { shadowHtml: string | null };
export const NO_SCREEN: Screen = { text: '', shadowHtml: '' };

/** A frame whose document is in a snapshot. */
type Seen = { at: FrameAt; index: number; document: DocumentSnapshot; reader: ScreenReader };

/** Shadow roots of a document that are read: closed ones first, of which scripts see nothing otherwise. */
const SHADOW_ROOTS_MAX = 100;
const SHADOW_HTML_LENGTH_MAX = HTML_LENGTH_MAX / 2;

/**
 * The texts of frames by their ids, from one snapshot of each process. `drawn`: what a frame has drawn on its canvases. Where a snapshot is not possible, the text is what a script reads; a frame that
 * does not answer has none. Keeps shadow roots for the scripts that read these documents later.
 */
export async function readScreens(
  { logger }: Pick<CaptureSession, 'logger'>,
  frames: readonly FrameAt[],
  deadlineMs: number,
  drawn: (frameId: string) => string = () => '',
): Promise<Map<string, Screen>> {
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
  const seen = frames.flatMap((at) => seenIn(snapshots[sessions.indexOf(at.session)] ?? null, at));
  const bySnapshot = new Map(seen.map((one) => [one.at.frameId, one]));
  const shadows = new Map(
    await Promise.all(
      seen.map(async (one): Promise<[string, string | null]> => [one.at.frameId, await keepRootsOf(one, leftMs())]),
    ),
  );
  const places = placesOf(bySnapshot, leftMs);
  const screens = await Promise.all(
    frames.map(async (at): Promise<[string, Screen] | null> => {
      const one = bySnapshot.get(at.frameId);
      if (one)
        return [
          at.frameId,
          screenOf(one.reader.read(await places(at), drawn(at.frameId)), shadows.get(at.frameId) ?? null),
        ];
      const read = evaluateInIsolatedWorld(at.session, at.frameId, readText, TEXT_LENGTH_MAX, leftMs());
      // A frame that does not answer is one that could not be read at all.
      const text = await read.catch(() => null);
      return text === null ? null : [at.frameId, { ...NO_SCREEN, text }];
    }),
  );
  return new Map(screens.filter((one) => one !== null));
}

function seenIn(snapshot: Snapshot | null, at: FrameAt): Seen[] {
  const index = snapshot?.documents.findIndex(({ frameId }) => snapshot.strings[frameId] === at.frameId) ?? -1;
  const document = snapshot?.documents[index];
  return snapshot && document ? [{ at, index, document, reader: new ScreenReader(snapshot, document) }] : [];
}

const screenOf = ({ text, viewportLength, pageLength }: ScreenText, shadowHtml: string | null): Screen => ({
  text: text.slice(0, TEXT_LENGTH_MAX).toWellFormed(),
  viewport_length: Math.min(TEXT_LENGTH_MAX, viewportLength),
  page_length: Math.min(TEXT_LENGTH_MAX, pageLength),
  shadowHtml,
});

/** Finds where a frame is, through all its parents; a frame whose parent is in no snapshot counts as in view. */
function placesOf(seen: ReadonlyMap<string, Seen>, leftMs: () => number): (at: FrameAt) => Promise<Place> {
  const known = new Map<string, Promise<Place>>();
  const find = async (at: FrameAt): Promise<Place> => {
    const parent = at.parentId === null ? undefined : seen.get(at.parentId);
    if (!parent) return 'viewport';
    const owner = await ownerIn(parent, at, seen.get(at.frameId), leftMs()).catch(() => -1);
    // A frame that was removed meanwhile is not seen; nor is one that has no box.
    return outerPlace(await placeOf(parent.at), parent.reader.placeOf(owner) ?? 'unseen');
  };
  const placeOf = (at: FrameAt): Promise<Place> => {
    const place = known.get(at.frameId) ?? find(at);
    known.set(at.frameId, place);
    return place;
  };
  return placeOf;
}

/** The node of a frame's element in its parent document; -1: it is not there. */
async function ownerIn(parent: Seen, at: FrameAt, own: Seen | undefined, deadlineMs: number): Promise<number> {
  const { index = [], value = [] } = parent.document.nodes.contentDocumentIndex ?? {};
  if (own && at.session === parent.at.session) return index[value.indexOf(own.index)] ?? -1;
  const { backendNodeId } = await parent.at.session.send('DOM.getFrameOwner', { frameId: at.frameId }, deadlineMs);
  return parent.reader.nodeOf(backendNodeId);
}

async function keepRootsOf({ at: { session, frameId }, reader }: Seen, deadlineMs: number): Promise<string | null> {
  const hosts = reader.shadowHosts();
  if (hosts.length === 0) return '';
  // A host that is gone meanwhile, or whose content is too large, has no shadow roots to read.
  const described = await Promise.all(
    hosts
      .slice(0, SHADOW_ROOTS_MAX)
      .map((backendNodeId) =>
        session.send('DOM.describeNode', { backendNodeId, ...WHOLE }, deadlineMs).catch(() => null),
      ),
  );
  const roots = described.flatMap((one) => (one ? shadowRootsIn(one.node) : []));
  try {
    const executionContextId = await isolatedWorldOf(session, frameId, deadlineMs);
    const resolved = await Promise.all(
      roots
        .slice(0, SHADOW_ROOTS_MAX)
        .map((backendNodeId) =>
          session.send('DOM.resolveNode', { backendNodeId, executionContextId }, deadlineMs).catch(() => null),
        ),
    );
    const kept = resolved.flatMap((one) => (one?.object.objectId ? [{ objectId: one.object.objectId }] : []));
    const { result } = await session.send(
      'Runtime.callFunctionOn',
      {
        ...{ executionContextId, functionDeclaration: String(keepShadowRoots), returnByValue: true },
        arguments: [{ value: SHADOW_HTML_LENGTH_MAX }, ...kept],
      },
      deadlineMs,
    );
    const isWhole = described.length === hosts.length && kept.length === roots.length && described.every(Boolean);
    return isWhole ? String(result.value).toWellFormed() : null;
  } catch {
    return null;
  }
}

const WHOLE = { depth: -1, pierce: true };
type DomNode = CommandAnswer<'DOM.describeNode'>['node'];

/** The backend ids of the shadow roots in a node that a page made, outer ones first. */
function shadowRootsIn({ shadowRoots = [], children = [] }: DomNode): number[] {
  const own = shadowRoots.filter(({ shadowRootType }) => shadowRootType !== 'user-agent');
  return [...own.map(({ backendNodeId }) => backendNodeId), ...[...own, ...children].flatMap(shadowRootsIn)];
}
