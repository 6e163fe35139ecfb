/** A message of the DevTools protocol, in either direction. */
export type ProtocolMessage = {
  id?: number;
  sessionId?: string;
  method?: string;
  params?: Record<string, unknown>;
  result?: Record<string, unknown>;
  error?: { message: string };
};

/** Stands between Playwright and Chromium: what goes out instead of a message, and whether an incoming one is for Playwright. */
export type ProtocolFilter = {
  outgoing(message: ProtocolMessage): ProtocolMessage[];
  incoming(message: ProtocolMessage): boolean;
};
