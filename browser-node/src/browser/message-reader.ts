import type { Readable } from 'node:stream';
import { HEAD_BYTES, limitOf, type MessageLimit } from './page-events.ts';

const END = 0;
/** Bytes of whole messages that wait to be delivered; beyond, nothing is read, so that Chromium waits at its end of the pipe. */
const UNDELIVERED_BYTES_MAX = 64 * 1024 * 1024;

/** `overflow`: a message was larger than it may be; no other follows. */
export type MessageReceiver = { message(text: string): void; overflow(): void };

/**
 * Splits what Chromium writes to its pipe into messages, each of which ends with a zero byte. It holds one message of the largest
 * size and the bytes that wait, and never more; a message that nobody reads is dropped while it arrives.
 */
export class MessageReader {
  readonly #read: Readable;
  readonly #receiver: MessageReceiver;
  #parts: Buffer[] = [];
  #bytes = 0;
  /** Of the present message; null = too little of it is here to tell. */
  #limit: MessageLimit | null = null;
  #isDropped = false;
  #undeliveredBytes = 0;
  #ended = false;

  constructor(read: Readable, receiver: MessageReceiver) {
    this.#read = read;
    this.#receiver = receiver;
    read.on('data', (chunk: Buffer) => this.#split(chunk));
  }

  #split(chunk: Buffer): void {
    let start = 0;
    while (start < chunk.length && !this.#ended) {
      const end = chunk.indexOf(END, start);
      this.#append(chunk.subarray(start, end === -1 ? chunk.length : end));
      if (end === -1) return;
      this.#complete();
      start = end + 1;
    }
  }

  #append(part: Buffer): void {
    this.#bytes += part.length;
    if (this.#isDropped) return;
    this.#parts.push(part);
    if (this.#limit === null && this.#bytes >= HEAD_BYTES) this.#limit = limitOf(this.#head());
    if (this.#limit !== null && this.#bytes > this.#limit.bytes) this.#exceed(this.#limit);
  }

  #head(): string {
    const [first] = this.#parts;
    const whole = first && first.length >= HEAD_BYTES ? first : Buffer.concat(this.#parts);
    return whole.toString('latin1', 0, HEAD_BYTES);
  }

  #exceed({ beyond }: MessageLimit): void {
    this.#parts = [];
    this.#isDropped = true;
    if (beyond === 'drop') return;
    this.#ended = true;
    this.#receiver.overflow();
  }

  #complete(): void {
    if (!this.#isDropped) this.#queue(this.#parts, this.#bytes);
    this.#parts = [];
    this.#bytes = 0;
    this.#limit = null;
    this.#isDropped = this.#ended;
  }

  /** Each message in a callback of its own: what one of them resolved runs before the next, and timers are not kept waiting. */
  #queue(parts: Buffer[], bytes: number): void {
    this.#undeliveredBytes += bytes;
    if (this.#undeliveredBytes > UNDELIVERED_BYTES_MAX) this.#read.pause();
    setImmediate(() => {
      this.#undeliveredBytes -= bytes;
      if (this.#read.isPaused() && this.#undeliveredBytes <= UNDELIVERED_BYTES_MAX) this.#read.resume();
      if (!this.#ended) this.#receiver.message(Buffer.concat(parts).toString());
    });
  }
}
