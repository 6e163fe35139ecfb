import type { Readable, Writable } from 'node:stream';
import { REQUEST_URLS_MAX } from '@adsweep/shared/limits.ts';
import type { Logger } from '@adsweep/shared/service/logger.ts';
import type { ConnectOverCDPTransport } from 'playwright-core';
import { isResponseToAdded, type ProtocolFilter, type ProtocolMessage } from './cdp-messages.ts';
import { isStreamedBody, limitOf, trimStrings } from './message-limits.ts';
import { MessageReader } from './message-reader.ts';
import { OwnCommands } from './own-commands.ts';
import { SessionFloods, type SessionLimits } from './session-floods.ts';

/**
 * More than this delays the messages of all other targets. Pages write 1,000 lines to their console at most
 * (`page-scripts/bound-console.ts`), and report 200 errors (`page-scripts/bound-errors.ts`).
 * A capture keeps `REQUEST_URLS_MAX` requests, shared among sites: what follows a flood of its own host is still seen
 * up to twice as many. A message about a request has the URLs that its scripts claim to have, of up to 1 MB each.
 * Chromium takes 60 µs for each cookie that a response sets, so that ten responses with a thousand each hold it up for
 * half a second.
 */
const SESSION_LIMITS: SessionLimits = {
  unreadBytes: 8 * 1024 * 1024,
  unreadMessages: 10_000,
  requests: 2 * REQUEST_URLS_MAX,
  longRequests: 16 * 1024 * 1024,
  longHeaders: 2 * 1024 * 1024,
};

/** An event whose JSON is longer than this may contain strings that must be cut. */
const LONG_EVENT = 16_384;

/**
 * The only connection to Chromium, over `--remote-debugging-pipe`: JSON messages that each end with a zero byte. It
 * serves Playwright, through `filters`, and our own commands. It never throws for what the browser sends; it closes
 * instead.
 */
export class PipeTransport implements ConnectOverCDPTransport {
  onmessage?: (message: object) => void;
  onclose?: (reason?: string) => void;
  /**
   * Called when a session exceeds {@link SESSION_LIMITS}, and again whenever its scripts cause as many unread messages
   * again.
   */
  onflood?: (sessionId: string) => void;
  readonly own: OwnCommands;
  readonly #write: Writable;
  readonly #read: Readable;
  readonly #filters: ProtocolFilter[];
  readonly #logger: Logger;
  readonly #floods = new SessionFloods(SESSION_LIMITS);
  #closed = false;

  constructor(write: Writable, read: Readable, filters: ProtocolFilter[], logger: Logger) {
    this.#write = write;
    this.#read = read;
    this.#filters = filters;
    this.#logger = logger;
    const reader = new MessageReader(read, {
      limitOf: (head) => this.own.limitOf(head) ?? limitOf(head),
      message: (text) => this.#deliver(text),
      overflow: () => this.#abandon('a message from Chromium was too large'),
      dropped: (bytes, head, tail) => this.#drop(bytes, head, tail),
    });
    this.own = new OwnCommands(
      (message) => this.#send(message),
      () => reader.droppedBytes,
    );
    read.on('close', () => this.#end('the pipe to Chromium was closed'));
    // Errors are reported as the end of the pipe.
    read.on('error', () => this.#end('the pipe from Chromium broke'));
    write.on('error', () => this.#end('the pipe to Chromium broke'));
  }

  get closed(): boolean {
    return this.#closed;
  }

  send(message: object): void {
    if (this.#closed) throw new Error('the pipe to Chromium is closed');
    const outgoing = this.#filters.reduce(
      (messages, filter) => messages.flatMap((each) => filter.outgoing?.(each) ?? [each]),
      [message as ProtocolMessage],
    );
    for (const each of outgoing) this.#send(each);
  }

  close(): void {
    this.#read.destroy();
    this.#write.end();
    this.#end('closed');
  }

  /** Messages of one event loop iteration are written together: every write wakes Chromium. */
  #send(message: ProtocolMessage): void {
    if (this.#closed) return;
    if (this.#write.writableCorked === 0) {
      this.#write.cork();
      setImmediate(() => this.#write.uncork());
    }
    this.#write.write(`${JSON.stringify(message)}\0`);
  }

  #end(reason: string): void {
    if (this.#closed) return;
    this.#closed = true;
    this.own.end();
    this.onclose?.(reason);
  }

  /** Closes after an error of the browser or of a handler. */
  #abandon(reason: string, cause?: unknown): void {
    if (!this.#closed) this.#logger.warn({ cause, reason }, 'the connection to a browser is closed');
    this.close();
  }

  #drop(bytes: number, head: string, tail: string): void {
    if (this.own.refuse(head)) return;
    const flooding = this.#floods.addUnread(bytes, tail);
    if (flooding !== null) this.onflood?.(flooding);
  }

  #deliver(text: string): void {
    if (this.#closed) return;
    try {
      const { flooding, isUnread } = this.#floods.add(text);
      if (flooding !== null) this.onflood?.(flooding);
      if (isUnread) return;
      const message = JSON.parse(text) as ProtocolMessage;
      if (message.id === undefined && text.length > LONG_EVENT && !isStreamedBody(message)) trimStrings(message);
      if (message.method === 'Target.detachedFromTarget') this.#floods.forget(String(message.params?.sessionId));
      if (isResponseToAdded(message) || this.own.take(message)) return;
      const send = (reply: ProtocolMessage) => this.#send(reply);
      if (this.#filters.every((filter) => filter.incoming(message, send))) this.onmessage?.(message);
    } catch (cause) {
      this.#abandon('a message could not be handled', cause);
    }
  }
}
