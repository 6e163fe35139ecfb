/** The start of a message that suffices to identify its event. */
export const HEAD_BYTES = 120;
/** The end of a message, which contains its session id: Chromium writes that last. */
export const TAIL_BYTES = 80;

/** The largest message that any command needs. */
export const MESSAGE_BYTES_MAX = 64 * 1024 * 1024;
const EVENT_BYTES_MAX = 4 * 1024 * 1024;
const REFUSAL_BYTES_MAX = 16_384;
const STRING_LENGTH_MAX = 16_384;

// Chromium writes `method` first, and the type of a console call first among its parameters.
const UNREAD =
  /^\{"method":"(Runtime\.exceptionThrown|Log\.entryAdded(?!","params":\{"entry":\{"source":"javascript","level":"error","text":"Unsafe attempt to initiate)|Network\.(webSocketFrame|eventSource)\w+|Runtime\.consoleAPICalled)/;
/** What begins a message about network traffic. */
export const TRAFFIC = /^\{"method":"Network\./;
/** What begins the log entry that a frame was refused to navigate its page, the only one that is read. */
export const REFUSAL = /^\{"method":"Log\.entryAdded"/;
const EVENT = /^\{"method":"(?!Network\.dataReceived)/;

/**
 * The most bytes that a message may have, and whether a larger one is dropped or ends the browser (`overflow`).
 * `isTraffic`: it reports network traffic, which a page's script cannot produce at will.
 */
export type MessageLimit = { bytes: number; beyond: 'drop' | 'overflow'; isTraffic?: boolean };

/**
 * The limit of a message that begins with `head`. Events that a page can cause without end and that no capture reads
 * are dropped: errors, WebSocket frames, console lines, and log entries except that a frame was refused to navigate its
 * page. Larger events than any page needs are dropped too. Pure.
 */
export function limitOf(head: string): MessageLimit {
  if (UNREAD.test(head)) return { bytes: 0, beyond: 'drop', isTraffic: TRAFFIC.test(head) };
  if (REFUSAL.test(head)) return { bytes: REFUSAL_BYTES_MAX, beyond: 'drop' };
  if (EVENT.test(head)) return { bytes: EVENT_BYTES_MAX, beyond: 'drop' };
  return { bytes: MESSAGE_BYTES_MAX, beyond: 'overflow' };
}

/** The id of a response by its beginning; null: it is none, or an error. Chromium writes the id first. */
export function responseId(head: string): number | null {
  const [, id] = /^\{"id":(\d+),"result"/.exec(head) ?? [];
  return id === undefined ? null : Number(id);
}

/** The most bytes of responses whose size a page decides easily. */
const RESPONSE_BYTES_MAX: Record<string, number> = {
  'DOMSnapshot.captureSnapshot': 8 * 1024 * 1024,
  'DOM.describeNode': 4 * 1024 * 1024,
};

/**
 * The limit of the response to one of our own commands: a larger one is dropped, its command fails, and the browser
 * goes on. Pure.
 */
export const responseLimit = (method: string): MessageLimit => ({
  bytes: RESPONSE_BYTES_MAX[method] ?? MESSAGE_BYTES_MAX,
  beyond: 'drop',
});

/** Whether a message is a part of a streamed response body: its receiver limits the size, and nothing else keeps it. */
export const isStreamedBody = ({ method }: { method?: string }): boolean => method === 'Network.dataReceived';

/**
 * Cuts every string in an event to 16,384 characters, in place. Playwright keeps the last 200 console lines of each
 * page and thousands of requests: with URLs of 2 MB each they would fill the memory.
 */
export function trimStrings(event: object): void {
  const fields = event as Record<string, unknown>;
  for (const [name, value] of Object.entries(fields)) {
    if (typeof value === 'string' && value.length > STRING_LENGTH_MAX) fields[name] = copyOf(value);
    else if (typeof value === 'object' && value !== null) trimStrings(value);
  }
}

/** Copies the start of a string: a slice would keep the whole original in memory. */
const copyOf = (text: string): string => Buffer.from(text.slice(0, STRING_LENGTH_MAX), 'utf16le').toString('utf16le');
