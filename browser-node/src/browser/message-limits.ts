/** The start of a message that suffices to identify its event. */
export const HEAD_BYTES = 120;

const MESSAGE_BYTES_MAX = 64 * 1024 * 1024;
const CONSOLE_BYTES_MAX = 4 * 1024 * 1024;
const REFUSAL_BYTES_MAX = 16_384;
const STRING_LENGTH_MAX = 16_384;

// Chromium writes `method` first, and the type of a console call first among its parameters.
const UNREAD =
  /^\{"method":"(Runtime\.exceptionThrown|Log\.entryAdded(?!","params":\{"entry":\{"source":"javascript","level":"error","text":"Unsafe attempt to initiate)|Network\.(webSocketFrame|eventSource)\w+|Runtime\.consoleAPICalled","params":\{"type":"(?!debug"))/;
const TRAFFIC = /^\{"method":"Network\./;
const REFUSAL = /^\{"method":"Log\.entryAdded"/;
const CONSOLE = /^\{"method":"Runtime\.consoleAPICalled"/;

/**
 * The most bytes that a message may have, and whether a larger one is dropped or ends the browser (`overflow`). `isTraffic`: it reports
 * network traffic, which a page's script cannot produce at will.
 */
export type MessageLimit = { bytes: number; beyond: 'drop' | 'overflow'; isTraffic?: boolean };

/**
 * The limit of a message that begins with `head`. Events that a page can cause without end and that no capture reads are dropped: errors,
 * WebSocket frames, log entries except that a frame was refused to navigate its page, and all console lines except `debug`, by which the page
 * scripts report. Pure.
 */
export function limitOf(head: string): MessageLimit {
  if (UNREAD.test(head)) return { bytes: 0, beyond: 'drop', isTraffic: TRAFFIC.test(head) };
  if (REFUSAL.test(head)) return { bytes: REFUSAL_BYTES_MAX, beyond: 'drop' };
  if (CONSOLE.test(head)) return { bytes: CONSOLE_BYTES_MAX, beyond: 'drop' };
  return { bytes: MESSAGE_BYTES_MAX, beyond: 'overflow' };
}

/** Whether a message is a part of a streamed response body: its receiver limits the size, and nothing else keeps it. */
export const isStreamedBody = ({ method }: { method?: string }): boolean => method === 'Network.dataReceived';

/**
 * Cuts every string in an event to 16,384 characters, in place. Playwright keeps the last 200 console lines of each page and thousands of
 * requests: with URLs of 2 MB each they would fill the memory.
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

/** The session id is the last field that Chromium writes. */
const SESSION = /"sessionId":"(\w+)"\}$/;

/** Counts the bytes of unread messages by session. */
export class UnreadBytes {
  readonly #max: number;
  readonly #bySession = new Map<string, number>();

  /** `max`: more unread bytes than this of one session are a flood. */
  constructor(max: number) {
    this.#max = max;
  }

  /** Counts a message by the end of its text. Returns the session if it floods now, and counts it from 0 again; null: no flood. */
  add(bytes: number, tail: string): string | null {
    const sessionId = SESSION.exec(tail)?.[1];
    if (sessionId === undefined) return null;
    const sum = (this.#bySession.get(sessionId) ?? 0) + bytes;
    const isFlood = sum > this.#max;
    this.#bySession.set(sessionId, isFlood ? 0 : sum);
    return isFlood ? sessionId : null;
  }

  /** Drops the count of a session that has ended. */
  forget(sessionId: string): void {
    this.#bySession.delete(sessionId);
  }
}
