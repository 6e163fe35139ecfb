import type { CommandAnswer } from '../devtools/devtools.ts';
import { isolatedWorldOf } from '../devtools/isolated-world.ts';
import { keepShadowRoots } from '../page-scripts/read-document.ts';
import { HTML_LENGTH_MAX } from '../session/budgets.ts';
import type { FrameAt } from '../session/frames.ts';

/** Shadow roots of a document that are read: closed ones first, of which scripts see nothing otherwise. */
const SHADOW_ROOTS_MAX = 100;
const SHADOW_HTML_LENGTH_MAX = HTML_LENGTH_MAX / 2;

/**
 * Returns the HTML of the shadow roots in `hosts` (backend ids of elements of the frame's document), and keeps the
 * roots for the scripts that read the document later. Null: not all of them could be read. Never throws.
 */
export async function readShadowRoots(
  { session, frameId }: Pick<FrameAt, 'session' | 'frameId'>,
  hosts: readonly number[],
  deadlineMs: number,
): Promise<string | null> {
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
        executionContextId,
        functionDeclaration: String(keepShadowRoots),
        returnByValue: true,
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
