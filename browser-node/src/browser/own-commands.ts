import { DeadlineError } from '@adsweep/shared/service/with-deadline.ts';
import { LAST_ADDED_ID, type ProtocolMessage } from './cdp-messages.ts';
import { type MessageLimit, responseId, responseLimit } from './message-limits.ts';

type Pending = { method: string; settle: (answer: ProtocolMessage | Error) => void };

/** The response to a command of ours was larger than any that it needs: a page decides its size. */
export class ResponseTooLargeError extends Error {
  override name = 'ResponseTooLargeError';
}

/** Where a late response is preceded by at least this much unread output, the browser is busy and not hung. */
const HELD_UP_BYTES = 16 * 1024 * 1024;
/** How many times a deadline is extended for that. */
const HELD_UP_TIMES = 3;

/**
 * Our own commands on a browser's connection, to the browser and in the sessions that Playwright has with its targets.
 */
export class OwnCommands {
  readonly #send: (message: ProtocolMessage) => void;
  readonly #unreadBytes: () => number;
  readonly #pending = new Map<number, Pending>();
  #lastId = LAST_ADDED_ID;
  #ended = false;

  /** `unreadBytes`: the number of bytes of dropped messages so far. */
  constructor(send: (message: ProtocolMessage) => void, unreadBytes: () => number) {
    this.#send = send;
    this.#unreadBytes = unreadBytes;
  }

  /**
   * Without `sessionId` a command to the browser. Rejects when the browser has ended, returns an error, or does not
   * respond within `deadlineMs`.
   */
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

  /**
   * Calls `expire` after `ms`, or later while unread output delays responses. Returns the function that stops the
   * timer.
   */
  #startTimer(ms: number, expire: () => void, times = HELD_UP_TIMES): () => void {
    const before = this.#unreadBytes();
    let stop = () => clearTimeout(timer);
    const timer = setTimeout(() => {
      if (times === 0 || this.#unreadBytes() - before < HELD_UP_BYTES) expire();
      else stop = this.#startTimer(ms, expire, times - 1);
    }, ms);
    return () => stop();
  }

  /** Handles the response to one of our commands; returns whether it was one. */
  take(message: ProtocolMessage): boolean {
    if (message.id === undefined || message.id <= LAST_ADDED_ID) return false;
    this.#settle(message.id, message);
    return true;
  }

  /**
   * The limit of a message that begins with `head`, if it is the response to one of our commands; null: that of all
   * messages.
   */
  limitOf(head: string): MessageLimit | null {
    const pending = this.#pending.get(responseId(head) ?? Number.NaN);
    return pending ? responseLimit(pending.method) : null;
  }

  /** Rejects the command whose response was dropped for its size; returns whether `head` is the beginning of one. */
  refuse(head: string): boolean {
    const id = responseId(head);
    const pending = this.#pending.get(id ?? Number.NaN);
    if (id !== null && pending)
      this.#settle(id, new ResponseTooLargeError(`${pending.method}: the response was too large`));
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
