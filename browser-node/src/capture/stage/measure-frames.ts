import type { TargetSession } from '../devtools/devtools.ts';
import type { Box, Visual } from '../page-scripts/measure-visuals.ts';
import { ANSWER_MS, FRAMES_MAX } from '../session/budgets.ts';
import type { CaptureSession } from '../session/capture-session.ts';
import { type FrameAt, framesOf } from '../session/frames.ts';
import { underLoad } from '../session/machine-load.ts';
import type { SeenFrame } from './choose-creative.ts';
import { measureFrame } from './measure-frame.ts';

/** A frame with the session that leads to it, what was seen of it, and the isolated world in which that was; null: it did not answer. */
export type MeasuredFrame = SeenFrame & { at: FrameAt; world: number | null };

/** The frames of a tab, its main one first: where each is shown and what it shows. What does not answer shows nothing. */
export async function measureFrames(captureSession: CaptureSession, root: TargetSession): Promise<MeasuredFrame[]> {
  const frames = (await framesOf(captureSession, root)).slice(0, FRAMES_MAX);
  const deadlineMs = underLoad(captureSession, ANSWER_MS);
  const measured = await Promise.all(
    frames.map(({ session, frameId }) => measureFrame(session, frameId, deadlineMs).catch(() => null)),
  );
  const owners = await Promise.all(frames.map((frame) => ownerBox(frame, frames, deadlineMs).catch(() => null)));
  const origins = originsOf(frames, owners, root, measured[0] ?? { scrollX: 0, scrollY: 0 });
  return frames.map((at, index) => {
    const origin = origins.get(at.frameId) ?? null;
    const owner = owners[index] ?? null;
    const visuals = origin ? (measured[index]?.visuals ?? []).map((visual) => moved(visual, origin)) : [];
    const box = origin && owner ? { ...origin, width: owner.width, height: owner.height } : null;
    const world = measured[index]?.world ?? null;
    return { at, world, frameId: at.frameId, parentId: at.parentId, url: at.url, box, visuals };
  });
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

type Origin = { x: number; y: number };

/** The top left corner of each frame in the tab's page. The boxes of a process' frames count from its own outermost frame. */
function originsOf(
  frames: FrameAt[],
  owners: (Box | null)[],
  root: TargetSession,
  { scrollX, scrollY }: { scrollX: number; scrollY: number },
): Map<string, Origin> {
  const origins = new Map<string, Origin>();
  const outermost = new Map<TargetSession, Origin>([[root, { x: scrollX, y: scrollY }]]);
  for (const [index, { frameId, parentId, session }] of frames.entries()) {
    if (index === 0) {
      origins.set(frameId, { x: scrollX, y: scrollY });
      continue;
    }
    const parent = frames.find((one) => one.frameId === parentId);
    const base = parent && outermost.get(parent.session);
    const owner = owners[index];
    if (!base || !owner) continue;
    const origin = { x: base.x + owner.x, y: base.y + owner.y };
    origins.set(frameId, origin);
    if (!outermost.has(session)) outermost.set(session, origin);
  }
  return origins;
}

const moved = (visual: Visual, { x, y }: Origin): Visual => ({ ...visual, x: visual.x + x, y: visual.y + y });
