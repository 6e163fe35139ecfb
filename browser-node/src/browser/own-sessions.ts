import type { Logger } from '@adsweep/shared/service/logger.ts';
import { DeadlineError } from '@adsweep/shared/service/with-deadline.ts';
import { LAST_ADDED_ID, type ProtocolMessage } from './cdp-messages.ts';
import { type MessageLimit, responseId, responseLimit } from './message-limits.ts';

/**
 * Our own CDP session with the browser target, independent of Playwright's; targets that it auto-attaches to get sessions beneath it. Every
 * command rejects when the browser has ended, returns an error, or does not respond within `deadlineMs`.
 */
export interface BrowserSession {
  /** A command to the browser, or to one of the sessions beneath this one. */
  command(
    method: string,
    params: object | undefined,
    deadlineMs: number,
    sessionId?: string,
  ): Promise<Record<string, unknown>>;
  /** Sets the listener to the events of this session (`sessionId` undefined) and those beneath it. Errors that it throws are logged. */
  listen(listener: EventListener): void;
  close(): void;
}

type EventListener = (method: string, params: unknown, sessionId: string | undefined) => void;
type Pending = { method: string; settle: (answer: ProtocolMessage | Error) => void };

const CLOSE_MS = 5_000;
/** Where a late response is preceded by at least this much unread output, the browser is busy and not hung. */
const HELD_UP_BYTES = 16 * 1024 * 1024;
/** How many times a deadline is extended for that. */
const HELD_UP_TIMES = 3;

/** Our own CDP sessions on a browser's connection. */
export class OwnSessions {
  readonly #send: (message: ProtocolMessage) => void;
  readonly #unreadBytes: () => number;
  readonly #logger: Logger;
  readonly #pending = new Map<number, Pending>();
  readonly #owners = new Map<string, OwnSession>();
  #lastId = LAST_ADDED_ID;
  #ended = false;

  /** `unreadBytes`: the number of bytes of dropped messages so far. */
  constructor(send: (message: ProtocolMessage) => void, unreadBytes: () => number, logger: Logger) {
    this.#send = send;
    this.#unreadBytes = unreadBytes;
    this.#logger = logger;
  }

  /** A new session with the browser. */
  async attach(deadlineMs: number): Promise<BrowserSession> {
    const { sessionId } = await this.command('Target.attachToBrowserTarget', undefined, deadlineMs);
    return new OwnSession(this, this.#owners, sessionId as string);
  }

  command(method: string, params: object | undefined, deadlineMs: number, sessionId?: string) {
    const id = ++this.#lastId;
    return new Promise<Record<string, unknown>>((resolve, reject) => {
      // 'the browser is gone' is a failure code of its own in failures.ts.
      if (this.#ended) return reject(new Error(`${method}: the browser is gone`));
      const stopTimer = this.#startTimer(deadlineMs, () => this.#settle(id, new DeadlineError(method, deadlineMs)));
      const settle = (answer: ProtocolMessage | Error) => {
        stopTimer();
        if (answer instanceof Error) reject(answer);
        else if (answer.error) reject(new Error(answer.error.message));
        else resolve(answer.result ?? {});
      };
      this.#pending.set(id, { method, settle });
      this.#send({ id, method, params: params as Record<string, unknown>, sessionId });
    });
  }

  /** Calls `expire` after `ms`, or later while unread output delays responses. Returns the function that stops the timer. */
  #startTimer(ms: number, expire: () => void, times = HELD_UP_TIMES): () => void {
    const before = this.#unreadBytes();
    let stop = () => clearTimeout(timer);
    const timer = setTimeout(() => {
      if (times === 0 || this.#unreadBytes() - before < HELD_UP_BYTES) expire();
      else stop = this.#startTimer(ms, expire, times - 1);
    }, ms);
    return () => stop();
  }

  /** Handles a message for one of our sessions; returns whether it was one. */
  take(message: ProtocolMessage): boolean {
    if (message.id !== undefined && message.id > LAST_ADDED_ID) {
      this.#settle(message.id, message);
      return true;
    }
    const owner = this.#owners.get(message.sessionId ?? '');
    if (!owner || message.method === undefined) return false;
    try {
      owner.take(message.method, message.params ?? {}, message.sessionId);
    } catch (cause) {
      this.#logger.error({ cause, method: message.method }, 'an event of the browser could not be handled');
    }
    return true;
  }

  /** The limit of a message that begins with `head`, if it is the response to one of our commands; null: that of all messages. */
  limitOf(head: string): MessageLimit | null {
    const pending = this.#pending.get(responseId(head) ?? Number.NaN);
    return pending ? responseLimit(pending.method) : null;
  }

  /** Rejects the command whose response was dropped for its size; returns whether `head` is the beginning of one. */
  refuse(head: string): boolean {
    const id = responseId(head);
    const pending = this.#pending.get(id ?? Number.NaN);
    if (id !== null && pending) this.#settle(id, new Error(`${pending.method}: the response was too large`));
    return id !== null;
  }

  /** Rejects all pending commands: the browser has ended. */
  end(): void {
    this.#ended = true;
    for (const [id, { method }] of [...this.#pending]) this.#settle(id, new Error(`${method}: the browser is gone`));
  }

  #settle(id: number, answer: ProtocolMessage | Error): void {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    pending?.settle(answer);
  }
}

class OwnSession implements BrowserSession {
  readonly #sessions: OwnSessions;
  /** The session that owns each session id, shared by all of our sessions. */
  readonly #owners: Map<string, OwnSession>;
  readonly #id: string;
  readonly #children = new Set<string>();
  #listener: EventListener = () => undefined;

  constructor(sessions: OwnSessions, owners: Map<string, OwnSession>, id: string) {
    this.#sessions = sessions;
    this.#owners = owners;
    this.#id = id;
    owners.set(id, this);
  }

  command(method: string, params: object | undefined, deadlineMs: number, sessionId = this.#id) {
    return this.#sessions.command(method, params, deadlineMs, sessionId);
  }

  listen(listener: EventListener): void {
    this.#listener = listener;
  }

  take(method: string, params: Record<string, unknown>, sessionId: string | undefined): void {
    const child = params.sessionId as string;
    if (method === 'Target.attachedToTarget') {
      this.#owners.set(child, this);
      this.#children.add(child);
    } else if (method === 'Target.detachedFromTarget') {
      this.#owners.delete(child);
      this.#children.delete(child);
    }
    this.#listener(method, params, sessionId === this.#id ? undefined : sessionId);
  }

  close(): void {
    this.#listener = () => undefined;
    this.#sessions
      .command('Target.detachFromTarget', { sessionId: this.#id }, CLOSE_MS)
      // The browser may have ended, and the session with it.
      .catch(() => undefined)
      .finally(() => {
        for (const id of [this.#id, ...this.#children]) this.#owners.delete(id);
      });
  }
}
