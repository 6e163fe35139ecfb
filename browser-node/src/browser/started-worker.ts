/** What is needed of the parameters of `Network.requestWillBeSent`. */
type Sent = { type?: string; requestId: string; loaderId: string; documentURL: string; request: { url: string } };

/** The target id that a dedicated worker will have, of whose script this event tells that it is requested; null: it is another request. */
export function startedWorker({ type, requestId, loaderId, documentURL, request }: Sent): string | null {
  return type === 'Script' && loaderId === '' && documentURL === request.url ? requestId : null;
}
