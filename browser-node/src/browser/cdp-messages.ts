/** A message of the DevTools protocol, in either direction. */
export type ProtocolMessage = {
  id?: number;
  sessionId?: string;
  method?: string;
  params?: Record<string, unknown>;
  result?: Record<string, unknown>;
  error?: { message: string };
};

/** Sends a message to Chromium. */
export type Send = (message: ProtocolMessage) => void;

/** The used part of the parameters of `Target.attachedToTarget`. `sessionId`: of the new session. */
export type Attached = {
  sessionId: string;
  targetInfo: { targetId: string; type: string; browserContextId?: string; openerId?: string };
};

/** The types of targets that are workers. */
export const WORKER_TYPES: ReadonlySet<string> = new Set(['worker', 'shared_worker', 'service_worker']);

/**
 * A filter between Playwright and Chromium: the messages to send in place of an outgoing one (absent: it itself), and
 * whether Playwright gets an incoming one.
 */
export type ProtocolFilter = {
  outgoing?(message: ProtocolMessage): ProtocolMessage[];
  incoming(message: ProtocolMessage, send: Send): boolean;
};

// Ids are unique per connection, not per session. Playwright counts from 1 and never gets this far; our own commands
// count from LAST_ADDED_ID.
const FIRST_ADDED_ID = 1_000_000_000;
export const LAST_ADDED_ID = 1_500_000_000;
let lastId = FIRST_ADDED_ID;

/** A command that a filter adds to Playwright's. Its response is dropped. */
export function addedCommand(
  sessionId: string | undefined,
  command: Required<Pick<ProtocolMessage, 'method' | 'params'>>,
): ProtocolMessage {
  lastId = lastId < LAST_ADDED_ID ? lastId + 1 : FIRST_ADDED_ID + 1;
  return { id: lastId, sessionId, ...command };
}

/** Whether a message is the response to an {@link addedCommand}. */
export const isResponseToAdded = ({ id }: ProtocolMessage): boolean =>
  id !== undefined && id > FIRST_ADDED_ID && id <= LAST_ADDED_ID;

/** The used part of the parameters of `Network.requestWillBeSent`. */
type Sent = { type?: string; requestId: string; loaderId: string; documentURL: string; request: { url: string } };

/**
 * If this event reports the request for a dedicated worker's script, the target id that the worker will have; null:
 * another request.
 */
export function startedWorker({ type, requestId, loaderId, documentURL, request }: Sent): string | null {
  return type === 'Script' && loaderId === '' && documentURL === request.url ? requestId : null;
}
