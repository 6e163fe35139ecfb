import type { Box } from '../box.ts';
import type { TargetSession } from '../devtools/devtools.ts';
import { takeSnapshot } from '../devtools/dom-snapshot.ts';
import { pageStart } from '../devtools/page-start.ts';
import { ANSWER_MS, underLoad } from '../session/budgets.ts';
import type { CaptureSession } from '../session/capture-session.ts';
import { type FrameAt, framesWithSilent } from '../session/frames.ts';
import type { Entry } from '../session/journal-entry.ts';
import type { OpenTab } from '../session/open-tabs.ts';
import type { PageDocument, PageFacts, PageRequest } from './page-facts.ts';
import { inPage, type Origin, READ_STYLES, type ReadDocument, readDocument } from './read-document.ts';

/** Frames of a page that are read at most; of more, the first ones. */
const FRAMES_READ_MAX = 500;
/** Nodes of a page that are read at most, in all its documents: one document after the other is left out beyond. */
const NODES_READ_MAX = 120_000;

/**
 * A page as it is now. `sessionOf`: the session that has a document; `unread`: how many of its frames could not be
 * read.
 */
export type ReadPage = { facts: PageFacts; sessionOf: (document: number) => TargetSession; unread: number };

/** A frame with what was read of it. */
type Read = { at: FrameAt; read: ReadDocument | null; indexInProcess: number };

/**
 * Reads what the page of a tab shows, in all its frames and shadow roots, and what it requested. No script runs in the
 * page for it: what the page does to its own objects changes nothing. A frame that does not answer in time counts as
 * not read.
 */
export async function readPage(session: CaptureSession, { tab }: OpenTab): Promise<ReadPage> {
  const deadlineMs = underLoad(session, ANSWER_MS);
  const all = await framesWithSilent(session, tab.session);
  const frames = all.slice(0, FRAMES_READ_MAX);
  const { ratio, start } = await scaleOf(tab.session, deadlineMs);
  const read = await readFrames(frames, ratio, deadlineMs);
  const owners = await ownersOf(read, deadlineMs);
  const documents = placeDocuments(read, owners, start);
  const [main] = read;
  const { width = 0, height = 0 } = main?.read?.size ?? {};
  const view = { width: main?.read?.view.width ?? 0, height: main?.read?.view.height ?? 0 };
  const requests = session.journal
    .all()
    .flatMap((entry) => (entry.tab === tab.session.targetId ? [asRequest(entry)] : []));
  return {
    facts: { documents, requests, page: { width, height }, view, start },
    sessionOf: (document) => frames[document]?.session ?? tab.session,
    unread: all.length - frames.length + documents.filter(({ isRead }) => !isRead).length,
  };
}

const asRequest = ({ url, resourceType, contentType, frameId, initiatorScripts, timestampMs }: Entry): PageRequest => ({
  url,
  resourceType,
  contentType,
  frameId,
  scripts: initiatorScripts,
  atMs: timestampMs,
});

/**
 * Snapshots are in device pixels: how many of these are a CSS pixel, 1 where the page does not answer; and where the
 * page starts.
 */
async function scaleOf(session: TargetSession, deadlineMs: number): Promise<{ ratio: number; start: Corner }> {
  const metrics = await session.send('Page.getLayoutMetrics', undefined, deadlineMs).catch(() => null);
  if (!metrics) return { ratio: 1, start: { x: 0, y: 0 } };
  const ratio = metrics.layoutViewport.clientWidth / metrics.cssLayoutViewport.clientWidth;
  return { ratio: Number.isFinite(ratio) && ratio > 0 ? ratio : 1, start: pageStart(metrics) };
}

type Corner = { x: number; y: number };

/** Snapshots that are taken at the same time: each may be large. */
const SNAPSHOTS_AT_ONCE = 4;

/** Reads frames from one snapshot of each process, up to {@link NODES_READ_MAX} nodes. */
async function readFrames(frames: readonly FrameAt[], ratio: number, deadlineMs: number): Promise<Read[]> {
  const sessions = [...new Set(frames.map(({ session }) => session))];
  const read = new Map<FrameAt, Read>();
  const until = performance.now() + deadlineMs * 2;
  let nodesLeft = NODES_READ_MAX;
  const readProcess = async (session: TargetSession) => {
    const leftMs = Math.min(deadlineMs, Math.max(1, until - performance.now()));
    const options = { styles: READ_STYLES, nodesMax: nodesLeft };
    // A process whose documents are too large, or that does not answer, is not read.
    const snapshot = await takeSnapshot(session, leftMs, options).catch(() => null);
    if (!snapshot) return;
    const byFrame = new Map(frames.filter((at) => at.session === session).map((at) => [at.frameId, at]));
    for (const [indexInProcess, document] of snapshot.documents.entries()) {
      const at = byFrame.get(snapshot.strings[document.frameId] ?? '');
      if (at) read.set(at, { at, read: readDocument(snapshot, document, ratio), indexInProcess });
      nodesLeft -= document.nodes.parentIndex?.length ?? 0;
    }
  };
  for (let first = 0; first < sessions.length && nodesLeft > 0; first += SNAPSHOTS_AT_ONCE)
    await Promise.all(sessions.slice(first, first + SNAPSHOTS_AT_ONCE).map(readProcess));
  return frames.map((at) => read.get(at) ?? { at, read: null, indexInProcess: -1 });
}

/** The element of each frame, in the document of its parent; null: it is not known. */
function ownersOf(all: readonly Read[], deadlineMs: number): Promise<PageDocument['owner'][]> {
  const indexOf = new Map(all.map(({ at }, index) => [at.frameId, index]));
  return Promise.all(
    all.map(async ({ at, indexInProcess }) => {
      const document = at.parentId === null ? undefined : indexOf.get(at.parentId);
      const parent = document === undefined ? undefined : all[document];
      if (document === undefined || !parent?.read) return null;
      if (parent.at.session === at.session && indexInProcess >= 0)
        for (const [node, inside] of parent.read.frames) if (inside === indexInProcess) return { document, node };
      const owner = await parent.at.session
        .send('DOM.getFrameOwner', { frameId: at.frameId }, deadlineMs)
        // A frame that was removed meanwhile has no element.
        .catch(() => null);
      const node = parent.read.nodes.findIndex(({ backendNodeId }) => backendNodeId === owner?.backendNodeId);
      return node < 0 ? null : { document, node };
    }),
  );
}

/** The documents with the boxes of their nodes in pixels of the page. */
function placeDocuments(all: readonly Read[], owners: readonly PageDocument['owner'][], start: Corner): PageDocument[] {
  const known = new Map<number, Origin | null>();
  const originOf = (index: number): Origin | null => {
    const origin = known.get(index) ?? findOrigin(index);
    known.set(index, origin);
    return origin;
  };
  const findOrigin = (index: number): Origin | null => {
    if (all[index]?.at.parentId === null) return { ...start, scale: 1 };
    const owner = owners[index];
    const outer = owner ? originOf(owner.document) : null;
    const box = owner && all[owner.document]?.read?.contentBoxes.get(owner.node);
    return outer && box ? originIn(outer, box, all[index]?.read ?? null) : null;
  };
  return all.map(({ at, read }, index) => {
    const origin = originOf(index);
    const nodes = (read?.nodes ?? []).map((node) => ({
      ...node,
      box: node.box && origin ? inPage(node.box, origin) : null,
      isShown: node.isShown && origin !== null,
    }));
    const { frameId, parentId: parentFrameId, url } = at;
    const baseUrl = read?.baseUrl ?? '';
    return { frameId, parentFrameId, url, baseUrl, owner: owners[index] ?? null, nodes, isRead: read !== null };
  });
}

/** A transform of less than this is a fractional pixel. */
const SCALE_MIN = 0.01;

/** Where the pixels of a frame's document are, whose content box in its parent's pixels is `box`. */
function originIn(outer: Origin, box: Box, inside: ReadDocument | null): Origin {
  const { width = 0, scrollX = 0, scrollY = 0 } = inside?.view ?? {};
  const ratio = width > 0 && box.width > 0 ? box.width / width : 1;
  const scale = Math.abs(ratio - 1) < SCALE_MIN ? outer.scale : outer.scale * ratio;
  const corner = inPage(box, outer);
  return { x: corner.x - scrollX * scale, y: corner.y - scrollY * scale, scale };
}
