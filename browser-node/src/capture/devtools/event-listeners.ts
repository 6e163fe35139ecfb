import { COMMAND_MS, type CommandAnswer, type TargetSession } from './devtools.ts';
import { isolatedWorldOf } from './isolated-world.ts';

/** A listener of a page; `handler.description`: its source, if it is a function. */
export type PageListener = CommandAnswer<'DOMDebugger.getEventListeners'>['listeners'][number];

/** Chromium reports the handlers only for objects of a group. */
const GROUP = { objectGroup: 'listeners' };

/** The object id of a frame's document in the page's own world: CDP reports the listeners of an object's world only. */
export const documentOf = async (at: { session: TargetSession; frameId: string }): Promise<string> =>
  (await nodeOf(at, () => document)) ?? '';

/**
 * The object id, in the page's own world, of the node that `read` returns in an isolated world of a frame, where the
 * page cannot replace anything; null: there is none. `read` must be self-contained.
 */
export async function nodeOf(
  { session, frameId }: { session: TargetSession; frameId: string },
  read: () => Node | null,
): Promise<string | null> {
  const contextId = await isolatedWorldOf(session, frameId, COMMAND_MS);
  const { result } = await session.send('Runtime.evaluate', { expression: `(${read})()`, contextId });
  if (!result.objectId) return null;
  const { node } = await session.send('DOM.describeNode', { objectId: result.objectId });
  const { object } = await session.send('DOM.resolveNode', { backendNodeId: node.backendNodeId, ...GROUP });
  return object.objectId ?? null;
}

/** The value of `expression` in the realm of the document; a page may have replaced it. */
export async function inRealmOf(session: TargetSession, documentId: string, expression: string) {
  const functionDeclaration = `function () { return ${expression}; }`;
  const params = { objectId: documentId, functionDeclaration, ...GROUP };
  const { result } = await session.send('Runtime.callFunctionOn', params);
  return result;
}

/** The listeners of an object of the page. */
export async function listenersOf(session: TargetSession, objectId: string): Promise<PageListener[]> {
  return (await session.send('DOMDebugger.getEventListeners', { objectId })).listeners;
}
