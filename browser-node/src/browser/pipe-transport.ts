import type { Readable, Writable } from 'node:stream';
import type { Logger } from '@adsweep/shared/service/logger.ts';
import type { ConnectOverCDPTransport } from 'playwright-core';
import { MessageReader } from './message-reader.ts';
import { OwnSessions } from './own-sessions.ts';
import { isCopiedAnswer, trimStrings } from './page-events.ts';
import { answersAdded, type ProtocolFilter, type ProtocolMessage } from './protocol-message.ts';
import { UnreadBytes } from './unread-bytes.ts';

/** What the scripts of a target can write to the console before it is told of as a flood: all other messages stand behind it. */
const UNREAD_BYTES_MAX = 32 * 1024 * 1024;

/** An event whose JSON is longer than this may carry strings that are worth cutting. */
const LONG_EVENT = 16_384;

/**
 * The one connection to Chromium, over `--remote-debugging-pipe`: JSON messages that each end with a zero byte. It serves Playwright,
 * through `filters`, and sessions of our own beside it. Whatever comes from the browser, nothing here throws: it closes instead.
 */
export class PipeTransport implements ConnectOverCDPTransport {
  onmessage?: (message: object) => void;
  onclose?: (reason?: string) => void;
  /** Scripts flood a session with what nobody reads; called again for as much more. */
  onflood?: (sessionId: string) => void;
  readonly own: OwnSessions;
  readonly #write: Writable;
  readonly #read: Readable;
  readonly #filters: ProtocolFilter[];
  readonly #logger: Logger;
  readonly #unread = new UnreadBytes(UNREAD_BYTES_MAX);
  #closed = false;

  constructor(write: Writable, read: Readable, filters: ProtocolFilter[], logger: Logger) {
    this.#write = write;
    this.#read = read;
    this.#filters = filters;
    this.#logger = logger;
    const reader = new MessageReader(read, {
      message: (text) => this.#deliver(text),
      overflow: () => this.#abandon('a message from Chromium was too large'),
      dropped: (bytes, tail) => this.#countUnread(bytes, tail),
    });
    this.own = new OwnSessions(
      (message) => this.#say(message),
      () => reader.droppedBytes,
      logger,
    );
    read.on('close', () => this.#end('the pipe to Chromium was closed'));
    // A broken pipe is also a close, which says it.
    read.on('error', () => this.#end('the pipe from Chromium broke'));
    write.on('error', () => this.#end('the pipe to Chromium broke'));
  }

  get closed(): boolean {
    return this.#closed;
  }

  send(message: object): void {
    if (this.#closed) throw new Error('the pipe to Chromium is closed');
    const outgoing = this.#filters.reduce(
      (messages, filter) => messages.flatMap((each) => filter.outgoing(each)),
      [message as ProtocolMessage],
    );
    for (const each of outgoing) this.#say(each);
  }

  close(): void {
    this.#read.destroy();
    this.#write.end();
    this.#end('closed');
  }

  /** What is said in one turn of the event loop is written at once: every write wakes Chromium. */
  #say(message: ProtocolMessage): void {
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

  /** Closes, for a fault of the browser's or of a handler. */
  #abandon(reason: string, cause?: unknown): void {
    if (!this.#closed) this.#logger.warn({ cause, reason }, 'the connection to a browser is closed');
    this.close();
  }

  #countUnread(bytes: number, tail: string): void {
    const flooding = this.#unread.add(bytes, tail);
    if (flooding !== null) this.onflood?.(flooding);
  }

  #deliver(text: string): void {
    if (this.#closed) return;
    try {
      const message = JSON.parse(text) as ProtocolMessage;
      if (message.id === undefined && text.length > LONG_EVENT && !isCopiedAnswer(message)) trimStrings(message);
      if (message.method === 'Target.detachedFromTarget') this.#unread.forget(String(message.params?.sessionId));
      if (answersAdded(message) || this.own.take(message)) return;
      const say = (reply: ProtocolMessage) => this.#say(reply);
      if (this.#filters.every((filter) => filter.incoming(message, say))) this.onmessage?.(message);
    } catch (cause) {
      this.#abandon('a message could not be handled', cause);
    }
  }
}
