import type { Readable, Writable } from 'node:stream';
import type { ConnectOverCDPTransport } from 'playwright-core';

/** A message of the DevTools protocol, in either direction. */
export type ProtocolMessage = {
  id?: number;
  sessionId?: string;
  method?: string;
  params?: Record<string, unknown>;
  result?: Record<string, unknown>;
  error?: { message: string };
};

/** Stands between Playwright and Chromium: what goes out instead of a message, and whether an answer is for Playwright. */
export type ProtocolFilter = {
  outgoing(message: ProtocolMessage): ProtocolMessage[];
  incoming(message: ProtocolMessage): boolean;
};

const END = 0;

/** Playwright's connection to Chromium over `--remote-debugging-pipe`: JSON messages that each end with a zero byte. */
export class PipeTransport implements ConnectOverCDPTransport {
  onmessage?: (message: object) => void;
  onclose?: (reason?: string) => void;
  readonly #write: Writable;
  readonly #read: Readable;
  readonly #filter: ProtocolFilter;
  #pending: Buffer[] = [];
  #closed = false;

  constructor(write: Writable, read: Readable, filter: ProtocolFilter) {
    this.#write = write;
    this.#read = read;
    this.#filter = filter;
    read.on('data', (chunk: Buffer) => this.#receive(chunk));
    read.on('close', () => this.#end('the pipe to Chromium was closed'));
    // A broken pipe is also a close, which says it.
    read.on('error', () => this.#end('the pipe from Chromium broke'));
    write.on('error', () => this.#end('the pipe to Chromium broke'));
  }

  send(message: object): void {
    if (this.#closed) throw new Error('the pipe to Chromium is closed');
    for (const each of this.#filter.outgoing(message as ProtocolMessage))
      this.#write.write(`${JSON.stringify(each)}\0`);
  }

  close(): void {
    this.#read.destroy();
    this.#write.end();
    this.#end('closed');
  }

  #end(reason: string): void {
    if (this.#closed) return;
    this.#closed = true;
    this.onclose?.(reason);
  }

  #receive(chunk: Buffer): void {
    let start = 0;
    for (let end = chunk.indexOf(END); end !== -1; end = chunk.indexOf(END, start)) {
      this.#pending.push(chunk.subarray(start, end));
      const text = Buffer.concat(this.#pending).toString();
      this.#pending = [];
      start = end + 1;
      // One message per turn of the event loop: a flood of them must not keep the timers waiting.
      setImmediate(() => this.#deliver(text));
    }
    if (start < chunk.length) this.#pending.push(chunk.subarray(start));
  }

  #deliver(text: string): void {
    if (this.#closed) return;
    const message = messageOf(text);
    if (message === null) this.close();
    else if (this.#filter.incoming(message)) this.onmessage?.(message);
  }
}

/** What is no JSON comes from a browser that is no longer itself. */
function messageOf(text: string): ProtocolMessage | null {
  try {
    return JSON.parse(text) as ProtocolMessage;
  } catch {
    return null;
  }
}
