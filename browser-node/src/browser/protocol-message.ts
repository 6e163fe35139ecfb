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
export type Say = (message: ProtocolMessage) => void;

/** Stands between Playwright and Chromium: what goes out instead of a message, and whether an incoming one is for Playwright. */
export type ProtocolFilter = {
  outgoing(message: ProtocolMessage): ProtocolMessage[];
  incoming(message: ProtocolMessage, say: Say): boolean;
};

// Ids belong to a connection, not to a session. Playwright counts from 1 and never comes this far; sessions of our own count from LAST_ADDED_ID.
const FIRST_ADDED_ID = 1_000_000_000;
export const LAST_ADDED_ID = 1_500_000_000;
let lastId = FIRST_ADDED_ID;

/** A command that a filter adds to Playwright's. Nobody waits for its answer. */
export function addedCommand(
  sessionId: string | undefined,
  command: Required<Pick<ProtocolMessage, 'method' | 'params'>>,
): ProtocolMessage {
  lastId = lastId < LAST_ADDED_ID ? lastId + 1 : FIRST_ADDED_ID + 1;
  return { id: lastId, sessionId, ...command };
}

/** Whether a message answers an {@link addedCommand}. */
export const answersAdded = ({ id }: ProtocolMessage): boolean =>
  id !== undefined && id > FIRST_ADDED_ID && id <= LAST_ADDED_ID;
