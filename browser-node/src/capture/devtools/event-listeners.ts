import type { CommandAnswer, TargetSession } from './devtools.ts';

/** A listener of a page's; `handler.description` is its source, where it is a function. */
export type PageListener = CommandAnswer<'DOMDebugger.getEventListeners'>['listeners'][number];

/** A frame's document as its own scripts know it. Only the listeners of that world are told. */
export async function documentOf({ session, frameId }: { session: TargetSession; frameId: string }): Promise<string> {
  const { executionContextId } = await session.send('Page.createIsolatedWorld', { frameId });
  const apart = await session.send('Runtime.evaluate', { expression: 'document', contextId: executionContextId });
  const { node } = await session.send('DOM.describeNode', { objectId: apart.result.objectId ?? '' });
  const { object } = await session.send('DOM.resolveNode', { backendNodeId: node.backendNodeId });
  return object.objectId ?? '';
}

/** What `expression` is in the realm of the document; a page may have put something else there. */
export async function inRealmOf(session: TargetSession, documentId: string, expression: string) {
  const functionDeclaration = `function () { return ${expression}; }`;
  // Chromium describes the listeners of objects of a group alone.
  const params = { objectId: documentId, functionDeclaration, objectGroup: 'listeners' };
  const { result } = await session.send('Runtime.callFunctionOn', params);
  return result;
}

/** The listeners of an object of the page. */
export async function listenersOf(session: TargetSession, objectId: string): Promise<PageListener[]> {
  return (await session.send('DOMDebugger.getEventListeners', { objectId })).listeners;
}
