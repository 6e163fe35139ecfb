import type { Readable } from 'node:stream';
import { HEAD_BYTES, type MessageLimit, TAIL_BYTES } from './message-limits.ts';

const END = 0;
/**
 * Bytes of complete messages that wait for delivery; beyond that, reading pauses, so that Chromium blocks on its end of
 * the pipe.
 */
const UNDELIVERED_BYTES_MAX = 64 * 1024 * 1024;

/**
 * `limitOf`: the limit of a message by its beginning. `overflow`: a message exceeded its limit; no other follows.
 * `dropped`: a message that a script caused was dropped; its size, and the beginning and the end of its text.
 */
export type MessageReceiver = {
  limitOf(head: string): MessageLimit;
  message(text: string): void;
  overflow(): void;
  dropped(bytes: number, head: string, tail: string): void;
};

/**
 * Splits what Chromium writes to its pipe into messages, each of which ends with a zero byte. It holds at most one
 * message of the largest size and the messages that wait; an unread message is dropped while it arrives.
 */
export class MessageReader {
  readonly #read: Readable;
  readonly #receiver: MessageReceiver;
  #parts: Buffer[] = [];
  #bytes = 0;
  /** The limit of the current message; null = too little of it has arrived to identify it. */
  #limit: MessageLimit | null = null;
  #isDropped = false;
  /** The beginning and the end of the message that is being dropped. */
  #droppedHead = '';
  #tail: Buffer = Buffer.alloc(0);
  #undeliveredBytes = 0;
  #droppedBytes = 0;
  #ended = false;

  constructor(read: Readable, receiver: MessageReceiver) {
    this.#read = read;
    this.#receiver = receiver;
    read.on('data', (chunk: Buffer) => this.#split(chunk));
  }

  /** Bytes of dropped messages so far, the current one included. */
  get droppedBytes(): number {
    return this.#droppedBytes + (this.#isDropped ? this.#bytes : 0);
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
    if (this.#isDropped) {
      this.#tail = tailOf(this.#tail, part);
      return;
    }
    this.#parts.push(part);
    if (this.#limit === null && this.#bytes >= HEAD_BYTES) this.#limit = this.#receiver.limitOf(this.#head());
    if (this.#limit !== null && this.#bytes > this.#limit.bytes) this.#exceed(this.#limit);
  }

  #head(): string {
    const [first] = this.#parts;
    const whole = first && first.length >= HEAD_BYTES ? first : Buffer.concat(this.#parts);
    return whole.toString('latin1', 0, HEAD_BYTES);
  }

  #exceed({ beyond }: MessageLimit): void {
    this.#droppedHead = this.#head();
    this.#tail = this.#parts.reduce(tailOf, Buffer.alloc(0));
    this.#parts = [];
    this.#isDropped = true;
    if (beyond === 'drop') return;
    this.#ended = true;
    this.#receiver.overflow();
  }

  #complete(): void {
    if (!this.#isDropped) this.#queue(this.#parts, this.#bytes);
    else if (!this.#ended) this.#drop();
    this.#parts = [];
    this.#bytes = 0;
    this.#limit = null;
    this.#isDropped = this.#ended;
  }

  #drop(): void {
    this.#droppedBytes += this.#bytes;
    if (!this.#limit?.isTraffic) this.#receiver.dropped(this.#bytes, this.#droppedHead, this.#tail.toString('latin1'));
  }

  /**
   * Each message in a callback of its own, so that promises that it resolves run before the next one, and timers are
   * not delayed.
   */
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

const tailOf = (tail: Buffer, part: Buffer): Buffer =>
  part.length >= TAIL_BYTES ? part.subarray(-TAIL_BYTES) : Buffer.concat([tail, part]).subarray(-TAIL_BYTES);
