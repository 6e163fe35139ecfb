import { type CommandAnswer, isWithin, type TargetSession } from '../devtools/devtools.ts';
import { evaluateInIsolatedWorld } from '../devtools/isolated-world.ts';
import { ANSWER_MS, FRAMES_MAX, underLoad } from './budgets.ts';
import type { CaptureSession } from './capture-session.ts';
import { FairList } from './fair-list.ts';

type FrameTree = CommandAnswer<'Page.getFrameTree'>['frameTree'];
/** A frame with the CDP session that has it; `parentId`: null for the tab's main frame. */
export type FrameAt = { session: TargetSession; frameId: string; parentId: string | null; url: string };

/** The frames of a tab, its main frame first; frames of other sites have sessions of their own. */
export const framesOf = async (captureSession: CaptureSession, root: TargetSession): Promise<FrameAt[]> =>
  (await listFrames(captureSession, root)).frames;

/**
 * The same, with frames of other sites that do not answer, such as crashed ones: without an address, and without the
 * frames in them.
 */
export async function framesWithSilent(captureSession: CaptureSession, root: TargetSession): Promise<FrameAt[]> {
  const { frames, silent } = await listFrames(captureSession, root);
  const { frames: tree } = captureSession.devtools;
  const known = silent.filter((one) => one.type === 'iframe');
  const at = (session: TargetSession): FrameAt => {
    const { targetId: frameId } = session;
    return { session, frameId, parentId: tree.parentOf(frameId) ?? root.targetId, url: '' };
  };
  return [...frames, ...known.map(at)];
}

/** The frames of a tab, and the sessions of those that are there and are too busy to answer. */
async function listFrames(
  captureSession: CaptureSession,
  root: TargetSession,
): Promise<{ frames: FrameAt[]; silent: TargetSession[] }> {
  const isOpen = (session: TargetSession) => [...captureSession.devtools.sessions()].includes(session);
  const sessions = [
    root,
    ...[...captureSession.devtools.sessions()].filter((one) => one.type === 'iframe' && isWithin(one, root)),
  ];
  const trees = await Promise.all(
    sessions.map(async (session) => {
      const answer = await treeOf(captureSession, session).catch(() => null);
      return answer?.map(({ id, parentId, url }) => ({ session, frameId: id, parentId: parentId ?? null, url })) ?? [];
    }),
  );
  // A tab is not paused at its start: its first frames may be there before their events are received.
  for (const { frameId, parentId } of trees.flat()) if (parentId) captureSession.devtools.frames.add(frameId, parentId);
  const silent = sessions.filter((session, index) => trees[index]?.length === 0 && isOpen(session));
  return { frames: trees.flat(), silent };
}

const treeOf = async (captureSession: CaptureSession, session: TargetSession): Promise<FrameTree['frame'][]> =>
  flat((await session.send('Page.getFrameTree', undefined, underLoad(captureSession, ANSWER_MS))).frameTree);

/**
 * Up to {@link FRAMES_MAX} frames, the tab's own document first; of many with the same address, such as empty ones,
 * some are left out. `unlike`: how many are left out of whose address there is no other frame.
 */
export function selectFrames<Frame extends Pick<FrameAt, 'url'>>(
  frames: readonly Frame[],
): { frames: Frame[]; unlike: number } {
  const kept = new FairList<Frame>(FRAMES_MAX);
  const addressOf = (frame: Frame) => (frame === frames[0] ? 'own' : (frame.url.split(/[?#]/)[0] as string));
  for (const frame of frames) kept.add(frame, addressOf(frame));
  const addresses = new Set([...kept].map(addressOf));
  return { frames: [...kept], unlike: frames.filter((frame) => !addresses.has(addressOf(frame))).length };
}

/** A frame and what was read in it; null: nothing could be read. */
export type ReadFrame<Result> = { at: FrameAt; result: Result | null };

/**
 * Runs `script` in the frames of a tab that {@link selectFrames} chooses among those that `isWanted`, all at once, each
 * within `deadlineMs`: a frame that does not answer costs only its own result. `unread`: how many of them are there and
 * could not be read; one that was removed meanwhile has nothing to show. `unlike`: as {@link selectFrames} counts.
 */
export async function readFrames<Argument, Result>(
  captureSession: CaptureSession,
  root: TargetSession,
  { script, argument, deadlineMs }: { script: (argument: Argument) => Result; argument: Argument; deadlineMs: number },
  isWanted: (frame: FrameAt) => boolean = () => true,
): Promise<{ read: ReadFrame<Awaited<Result>>[]; unread: number; unlike: number }> {
  const { frames: all, silent } = await listFrames(captureSession, root);
  const { frames, unlike } = selectFrames(all.filter(isWanted));
  const read = await Promise.all(
    frames.map(async (at): Promise<ReadFrame<Awaited<Result>>> => {
      const until = performance.now() + deadlineMs;
      const run = (ms: number) => evaluateInIsolatedWorld(at.session, at.frameId, script, argument, ms);
      // A frame that navigates meanwhile is read again.
      const again = () => run(Math.max(1, until - performance.now())).catch(() => null);
      return { at, result: await run(deadlineMs).catch(again) };
    }),
  );
  const failed = read.filter(({ result }) => result === null);
  const areGone = await Promise.all(failed.map(({ at }) => isGone(captureSession, at)));
  return { read, unread: silent.length + areGone.filter((gone) => !gone).length, unlike };
}

/** Whether a frame was removed. One that does not answer is taken to be there. */
export async function isGone(captureSession: CaptureSession, { session, frameId }: FrameAt): Promise<boolean> {
  if (![...captureSession.devtools.sessions()].includes(session)) return true;
  const frames = await treeOf(captureSession, session).catch(() => null);
  return frames ? frames.every(({ id }) => id !== frameId) : false;
}

const flat = ({ frame, childFrames = [] }: FrameTree): FrameTree['frame'][] => [frame, ...childFrames.flatMap(flat)];
