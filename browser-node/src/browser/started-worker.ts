/** The used part of the parameters of `Network.requestWillBeSent`. */
type Sent = { type?: string; requestId: string; loaderId: string; documentURL: string; request: { url: string } };

/** If this event reports the request for a dedicated worker's script, the target id that the worker will have; null: another request. */
export function startedWorker({ type, requestId, loaderId, documentURL, request }: Sent): string | null {
  return type === 'Script' && loaderId === '' && documentURL === request.url ? requestId : null;
}
