import { note } from '@adsweep/shared/capture/notes.ts';
import type { Box } from '../box.ts';
import type { TargetSession } from '../devtools/devtools.ts';
import { evaluateInWorld, isolatedWorldOf, ScriptError, scriptResult } from '../devtools/isolated-world.ts';
import { type Measured, measureVisuals, readEmptyHosts, type Visual } from '../page-scripts/measure-visuals.ts';
import { ANSWER_MS, FRAMES_MAX, underLoad } from '../session/budgets.ts';
import type { CaptureSession } from '../session/capture-session.ts';
import { type FrameAt, framesOf } from '../session/frames.ts';
import type { SeenFrame } from './choose-creative.ts';

/**
 * A measured frame. `world`: the isolated world that it was measured in, null: it did not answer. `scale`: the size of
 * one of its pixels in pixels of the tab's page, which differs from 1 if a transform fits it into its placement.
 */
export type MeasuredFrame = SeenFrame & { at: FrameAt; world: number | null; scale: number };

/**
 * Which frames of a tab are measured; and `in`: whether places are those in the page (CSS pixels from its top left) or
 * in the viewport.
 */
export type Measuring = { select(frames: FrameAt[]): FrameAt[]; in: 'page' | 'viewport' };
const WHOLE_PAGE: Measuring = { select: (frames) => frames, in: 'page' };

/**
 * The frames of a tab, its main frame first: where each is shown and what it shows. A frame that does not answer shows
 * nothing.
 */
export async function measureFrames(
  captureSession: CaptureSession,
  root: TargetSession,
  measuring = WHOLE_PAGE,
): Promise<MeasuredFrame[]> {
  const frames = measuring.select(await framesOf(captureSession, root)).slice(0, FRAMES_MAX);
  const deadlineMs = underLoad(captureSession, ANSWER_MS);
  const measured = await Promise.all(
    frames.map(({ session, frameId }) =>
      measureFrame(session, frameId, deadlineMs).catch((cause) => noteThrown(captureSession, cause)),
    ),
  );
  const owners = await Promise.all(frames.map((frame) => ownerBox(frame, frames, deadlineMs).catch(() => null)));
  const widths = measured.map((one) => one?.width ?? 0);
  const scrolled = (measuring.in === 'page' && measured[0]) || { scrollX: 0, scrollY: 0 };
  const origins = originsOf(frames, owners, widths, { root, ...scrolled });
  return frames.map((at, index) => {
    const origin = origins.get(at.frameId) ?? null;
    const owner = owners[index] ?? null;
    const visuals = origin ? (measured[index]?.visuals ?? []).map((visual) => moved(visual, origin)) : [];
    const box = origin && owner ? shownBox(origin, owner) : null;
    const world = measured[index]?.world ?? null;
    return {
      at,
      world,
      scale: origin?.scale ?? 1,
      frameId: at.frameId,
      parentId: at.parentId,
      url: at.url,
      box,
      visuals,
    };
  });
}

/**
 * A frame that does not answer, or is gone, shows nothing; what one shows in which our script threw is not known, and
 * that is noted.
 */
export function noteThrown({ logger, notes }: CaptureSession, cause: unknown): null {
  if (!(cause instanceof ScriptError)) return null;
  logger.warn({ cause }, 'a frame could not be measured');
  notes.push(note('creative'));
  return null;
}

/** Where a frame is shown, in the pixels of what its parent's process shows; null for the tab's own. */
async function ownerBox({ frameId, parentId }: FrameAt, frames: FrameAt[], deadlineMs: number): Promise<Box | null> {
  const parent = frames.find((one) => one.frameId === parentId);
  if (!parent) return null;
  const { backendNodeId } = await parent.session.send('DOM.getFrameOwner', { frameId }, deadlineMs);
  const { model } = await parent.session.send('DOM.getBoxModel', { backendNodeId }, deadlineMs);
  const [left = 0, top = 0, right = 0, , , bottom = 0] = model.content;
  return { x: left, y: top, width: right - left, height: bottom - top };
}

/**
 * The top left corner of a frame in the tab's page, its scale, and the scale in which the box of its owner element is
 * given.
 */
type Origin = { x: number; y: number; scale: number; outerScale: number };

/** A smaller difference is a fractional pixel and not a transform. */
const SCALE_MIN = 0.01;

/**
 * Where each frame is in the tab's page. The boxes of a process' frames are relative to its outermost frame. `widths`:
 * in the frames' own pixels.
 */
function originsOf(
  frames: FrameAt[],
  owners: (Box | null)[],
  widths: number[],
  { root, scrollX, scrollY }: { root: TargetSession; scrollX: number; scrollY: number },
): Map<string, Origin> {
  const origins = new Map<string, Origin>();
  const page: Origin = { x: scrollX, y: scrollY, scale: 1, outerScale: 1 };
  const outermost = new Map<TargetSession, Origin>([[root, page]]);
  for (const [index, { frameId, parentId, session }] of frames.entries()) {
    if (index === 0) {
      origins.set(frameId, page);
      continue;
    }
    const parent = frames.find((one) => one.frameId === parentId);
    const base = parent && outermost.get(parent.session);
    const owner = owners[index];
    if (!base || !owner) continue;
    const ratio = widths[index] && owner.width ? owner.width / widths[index] : 1;
    const scale = Math.abs(ratio - 1) < SCALE_MIN ? base.scale : base.scale * ratio;
    const [x, y] = [base.x + owner.x * base.scale, base.y + owner.y * base.scale];
    const origin = { x, y, scale, outerScale: base.scale };
    origins.set(frameId, origin);
    if (!outermost.has(session)) outermost.set(session, origin);
  }
  return origins;
}

const shownBox = ({ x, y, outerScale }: Origin, { width, height }: Box): Box => ({
  x,
  y,
  width: width * outerScale,
  height: height * outerScale,
});

const moved = ({ kind, x, y, width, height }: Visual, origin: Origin): Visual => {
  const { scale } = origin;
  return { kind, x: origin.x + x * scale, y: origin.y + y * scale, width: width * scale, height: height * scale };
};

/** Elements of a document in which closed shadow roots are looked for where nothing else is measured. */
const HOSTS_WITHIN_MAX = 2_000;
const LIMITS = { elements: 20_000, visuals: 2_000, hosts: 50 };
/** Closed shadow roots of a frame that are measured at most, including nested ones. */
const CLOSED_ROOTS_MAX = 20;

/** What a frame shows, and the isolated world that it was measured in, which holds the closed shadow roots that were found, and their number. */
export type MeasuredInWorld = Measured & { world: number; closedRoots: number };

/** What a frame shows without its child frames, including closed shadow roots. Rejects when it was removed or does not answer in time. */
async function measureFrame(
  session: TargetSession,
  frameId: string,
  deadlineMs: number,
  limits = LIMITS,
): Promise<MeasuredInWorld> {
  const world = await isolatedWorldOf(session, frameId, deadlineMs);
  const measured = await evaluateInWorld(session, world, measureVisuals, limits, deadlineMs);
  const visuals = [...measured.visuals];
  const roots = measured.emptyHosts > 0 ? await closedRoots(session, world, deadlineMs) : [];
  const read = () => Math.min(roots.length, CLOSED_ROOTS_MAX);
  for (let at = 0; at < read(); at += 1) {
    const inside = await measureRoot(session, world, roots[at]!, deadlineMs);
    visuals.push(...inside.visuals.slice(0, LIMITS.visuals - visuals.length));
    if (inside.emptyHosts > 0) roots.push(...(await closedRoots(session, world, deadlineMs)));
  }
  return { ...measured, visuals, world, closedRoots: read() };
}

/**
 * Finds the closed shadow roots of a document, so that later scripts in its isolated world enter them. Whether it has any; false as well where it
 * does not answer in time.
 */
export async function findClosedRoots(session: TargetSession, frameId: string, deadlineMs: number): Promise<boolean> {
  const limits = { ...LIMITS, elements: HOSTS_WITHIN_MAX };
  const measuring = measureFrame(session, frameId, deadlineMs, limits);
  return measuring.then(
    (measured) => measured.closedRoots > 0,
    () => false,
  );
}

/**
 * The closed shadow roots of what {@link measureVisuals} left for {@link readEmptyHosts}: no script can reach them, but
 * CDP can.
 */
async function closedRoots(session: TargetSession, world: number, deadlineMs: number): Promise<number[]> {
  const reading = { expression: `(${readEmptyHosts})()`, contextId: world };
  const list = await session.send('Runtime.evaluate', reading, deadlineMs);
  const { result: properties } = await session.send(
    'Runtime.getProperties',
    { objectId: list.result.objectId ?? '', ownProperties: true },
    deadlineMs,
  );
  const hosts = properties.flatMap(({ value }) => (value?.subtype === 'node' ? [value.objectId ?? ''] : []));
  const nodes = await Promise.all(
    // An element that was removed meanwhile shows nothing.
    hosts.map((objectId) => session.send('DOM.describeNode', { objectId }, deadlineMs).catch(() => null)),
  );
  return nodes.flatMap((described) =>
    (described?.node.shadowRoots ?? [])
      .filter(({ shadowRootType }) => shadowRootType === 'closed')
      .map(({ backendNodeId }) => backendNodeId),
  );
}

/** What a closed shadow root shows. */
async function measureRoot(
  session: TargetSession,
  world: number,
  backendNodeId: number,
  deadlineMs: number,
): Promise<Measured> {
  const { object } = await session.send('DOM.resolveNode', { backendNodeId, executionContextId: world }, deadlineMs);
  const answer = await session.send(
    'Runtime.callFunctionOn',
    {
      objectId: object.objectId ?? '',
      functionDeclaration: `function (limits) { return (${measureVisuals})({ ...limits, root: this }); }`,
      arguments: [{ value: LIMITS }],
      returnByValue: true,
    },
    deadlineMs,
  );
  return scriptResult(measureVisuals, answer);
}
