import type { CommandAnswer, TargetSession } from '../devtools/devtools.ts';
import { ANSWER_MS, underLoad } from './budgets.ts';
import type { CaptureSession } from './capture-session.ts';

type FrameTree = CommandAnswer<'Page.getFrameTree'>['frameTree'];
/** A frame with the CDP session that has it; `parentId`: null for the tab's main frame. */
export type FrameAt = { session: TargetSession; frameId: string; parentId: string | null; url: string };

/** The frames of a tab, its main frame first; frames of other sites have sessions of their own. */
export async function framesOf(captureSession: CaptureSession, root: TargetSession): Promise<FrameAt[]> {
  const sessions = [
    root,
    ...[...captureSession.devtools.sessions()].filter((one) => one.type === 'iframe' && isUnder(one, root)),
  ];
  const trees = await Promise.all(
    sessions.map(async (session) => {
      // A frame that was removed, or is too busy to answer, is left out.
      const answer = await session
        .send('Page.getFrameTree', undefined, underLoad(captureSession, ANSWER_MS))
        .catch(() => null);
      return answer
        ? flat(answer.frameTree).map(({ id, parentId, url }) => ({
            session,
            frameId: id,
            parentId: parentId ?? null,
            url,
          }))
        : [];
    }),
  );
  return trees.flat();
}

const flat = ({ frame, childFrames = [] }: FrameTree): FrameTree['frame'][] => [frame, ...childFrames.flatMap(flat)];

function isUnder(session: TargetSession, root: TargetSession): boolean {
  for (let at: TargetSession | null = session; at; at = at.parent) if (at === root) return true;
  return false;
}
