/** The start of a message that suffices to identify its event. */
export const HEAD_BYTES = 120;

/** The largest message that any command needs. */
export const MESSAGE_BYTES_MAX = 64 * 1024 * 1024;
const EVENT_BYTES_MAX = 4 * 1024 * 1024;
const REFUSAL_BYTES_MAX = 16_384;
const STRING_LENGTH_MAX = 16_384;

// Chromium writes `method` first, and the type of a console call first among its parameters.
const UNREAD =
  /^\{"method":"(Runtime\.exceptionThrown|Log\.entryAdded(?!","params":\{"entry":\{"source":"javascript","level":"error","text":"Unsafe attempt to initiate)|Network\.(webSocketFrame|eventSource)\w+|Runtime\.consoleAPICalled)/;
const TRAFFIC = /^\{"method":"Network\./;
const EVENT = /^\{"method":"(?!Network\.dataReceived)/;
const REFUSAL = /^\{"method":"Log\.entryAdded"/;

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

/** The session id is the last field that Chromium writes. */
const SESSION = /"sessionId":"(\w+)"\}$/;
const TAIL_LENGTH = 80;

const REQUEST = /^\{"method":"Network\.(requestWillBeSent|webSocketCreated|webTransportCreated)"/;
/** Characters beyond which a message about a request or about the headers of a response (each twice) is long. */
const LONG = 65_536;
const HEADERS = /^\{"method":"Network\.responseReceivedExtraInfo"/;

/**
 * What one session may cause: bytes and number of unread messages, requests, and characters of long messages about
 * requests and headers.
 */
export type SessionLimits = {
  unreadBytes: number;
  unreadMessages: number;
  requests: number;
  longRequests: number;
  longHeaders: number;
};

type Caused = { bytes: number; messages: number; requests: number; longRequests: number; longHeaders: number };

/** Counts what each session causes, and finds those that flood. */
export class SessionBudgets {
  readonly #limits: SessionLimits;
  readonly #bySession = new Map<string, Caused>();

  constructor(limits: SessionLimits) {
    this.#limits = limits;
  }

  /**
   * Counts an unread message by the end of its text. Returns the session if it floods now, and counts it from 0 again;
   * null: no flood.
   */
  addUnread(bytes: number, tail: string): string | null {
    const caused = this.#of(tail);
    if (!caused) return null;
    caused.bytes += bytes;
    caused.messages += 1;
    if (caused.bytes <= this.#limits.unreadBytes && caused.messages <= this.#limits.unreadMessages) return null;
    caused.bytes = 0;
    caused.messages = 0;
    return sessionOf(tail);
  }

  /**
   * Counts a message. `flooding`: its session, if that has just made one request too many, or too many long ones, or
   * got too many long headers, or tried as often to navigate a page that it must not as scripts may cause unread
   * messages; otherwise null. `isUnread`: the message reports traffic beyond the number of requests, and is not to be
   * delivered.
   */
  add(text: string): { flooding: string | null; isUnread: boolean } {
    const nothing = { flooding: null, isUnread: false };
    if (REFUSAL.test(text)) return { ...nothing, flooding: this.addUnread(text.length, text.slice(-TAIL_LENGTH)) };
    if (!TRAFFIC.test(text)) return nothing;
    const tail = text.slice(-TAIL_LENGTH);
    const caused = this.#of(tail);
    if (!caused) return nothing;
    const wasWithin = this.#isWithin(caused);
    if (REQUEST.test(text)) caused.requests += 1;
    if (text.length > LONG && REQUEST.test(text)) caused.longRequests += text.length;
    if (text.length > LONG && HEADERS.test(text)) caused.longHeaders += text.length;
    const isWithin = this.#isWithin(caused);
    return {
      flooding: wasWithin && !isWithin ? sessionOf(tail) : null,
      isUnread: caused.requests > this.#limits.requests,
    };
  }

  #isWithin(caused: Caused): boolean {
    return (['requests', 'longRequests', 'longHeaders'] as const).every((what) => caused[what] <= this.#limits[what]);
  }

  /** Drops the counts of a session that has ended. */
  forget(sessionId: string): void {
    this.#bySession.delete(sessionId);
  }

  #of(tail: string): Caused | null {
    const sessionId = sessionOf(tail);
    if (sessionId === null) return null;
    const caused = this.#bySession.get(sessionId) ?? {
      bytes: 0,
      messages: 0,
      requests: 0,
      longRequests: 0,
      longHeaders: 0,
    };
    this.#bySession.set(sessionId, caused);
    return caused;
  }
}

const sessionOf = (tail: string): string | null => SESSION.exec(tail)?.[1] ?? null;
