import type { CommandAnswer, TargetSession } from './devtools.ts';

/** A listener of a page; `handler.description`: its source, if it is a function. */
export type PageListener = CommandAnswer<'DOMDebugger.getEventListeners'>['listeners'][number];

/** The object id of a frame's document in the page's own world: CDP reports the listeners of an object's world only. */
export async function documentOf({ session, frameId }: { session: TargetSession; frameId: string }): Promise<string> {
  const { executionContextId } = await session.send('Page.createIsolatedWorld', { frameId });
  const isolated = await session.send('Runtime.evaluate', { expression: 'document', contextId: executionContextId });
  const { node } = await session.send('DOM.describeNode', { objectId: isolated.result.objectId ?? '' });
  const { object } = await session.send('DOM.resolveNode', { backendNodeId: node.backendNodeId });
  return object.objectId ?? '';
}

/** The value of `expression` in the realm of the document; a page may have replaced it. */
export async function inRealmOf(session: TargetSession, documentId: string, expression: string) {
  const functionDeclaration = `function () { return ${expression}; }`;
  // Chromium reports the handlers only for objects of a group.
  const params = { objectId: documentId, functionDeclaration, objectGroup: 'listeners' };
  const { result } = await session.send('Runtime.callFunctionOn', params);
  return result;
}

/** The listeners of an object of the page. */
export async function listenersOf(session: TargetSession, objectId: string): Promise<PageListener[]> {
  return (await session.send('DOMDebugger.getEventListeners', { objectId })).listeners;
}
