import { REFUSAL, TAIL_BYTES, TRAFFIC } from './message-limits.ts';

const SESSION = /"sessionId":"(\w+)"\}$/;

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
export class SessionFloods {
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
    if (REFUSAL.test(text)) return { ...nothing, flooding: this.addUnread(text.length, text.slice(-TAIL_BYTES)) };
    if (!TRAFFIC.test(text)) return nothing;
    const tail = text.slice(-TAIL_BYTES);
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
