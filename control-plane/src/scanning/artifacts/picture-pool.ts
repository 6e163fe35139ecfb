import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { Resized, ResizeRequest } from './resize-process.ts';
import type { Size, WantedSize } from './resize-screenshot.ts';

/** Concurrent resizes: a tall page costs a second of CPU and 100 MB. */
const RUNNING_MAX = 2;
/** Resizes that may wait for these: a few seconds' worth. */
const WAITING_MAX = 8;
const CACHE_BYTES_MAX = 64 * 1024 * 1024;
/** A process without work ends after this, and its memory with it. */
const IDLE_MS = 60_000;

/** A picture as it is stored: `sha256` names its bytes. */
export type StoredPicture = Size & { sha256: string; open: () => Readable };

type Waiting = { resolve: (bytes: Buffer) => void; reject: (error: Error) => void };

/**
 * Resizes pictures in a process of its own, so that neither the event loop nor the threads of files and archives wait for it. Results are
 * kept. Beyond two at once and eight that wait a resize is refused with `QueueFull`; one that fails, with `NotResized`.
 */
export class PicturePool {
  readonly #queue = new BoundedQueue(RUNNING_MAX, WAITING_MAX);
  readonly #cache = new PictureCache(CACHE_BYTES_MAX);
  readonly #waiting = new Map<number, Waiting>();
  #child: ChildProcess | null = null;
  #lastId = 0;
  #idle: NodeJS.Timeout | undefined;

  /** The picture as WebP in this size. `signal` frees the place of a client that went away. */
  async resize(picture: StoredPicture, wanted: WantedSize, signal: AbortSignal): Promise<Buffer> {
    const name = `${picture.sha256} ${wanted.width} ${wanted.isWhole}`;
    const kept = this.#cache.get(name);
    if (kept) return kept;
    return this.#queue.run(async () => {
      const sinceThen = this.#cache.get(name);
      if (sinceThen) return sinceThen;
      const resized = await this.#ask(await buffer(picture.open()), picture, wanted);
      this.#cache.set(name, resized);
      return resized;
    }, signal);
  }

  /** Ends the process; what is under way is refused. */
  async close(): Promise<void> {
    clearTimeout(this.#idle);
    const child = this.#child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  }

  #ask(bytes: Buffer, { width, height }: Size, wanted: WantedSize): Promise<Buffer> {
    this.#child ??= this.#start();
    const child = this.#child;
    const id = ++this.#lastId;
    const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
    this.#waiting.set(id, { resolve, reject });
    clearTimeout(this.#idle);
    child.send({ id, bytes, original: { width, height }, wanted } satisfies ResizeRequest);
    return promise;
  }

  #start(): ChildProcess {
    // Pictures are hostile: an exploited decoder must find nothing useful in its environment.
    const child = fork(join(import.meta.dirname, 'resize-process.ts'), [], {
      serialization: 'advanced',
      execArgv: [],
      env: { UV_THREADPOOL_SIZE: String(RUNNING_MAX), MALLOC_ARENA_MAX: '2' },
    });
    // It must not keep this process alive.
    child.unref();
    child.channel?.unref();
    child.on('message', (answer: Resized) => this.#settle(answer));
    child.once('error', () => this.#lost(child)).once('exit', () => this.#lost(child));
    return child;
  }

  #settle(answer: Resized): void {
    const waiting = this.#waiting.get(answer.id);
    this.#waiting.delete(answer.id);
    if ('bytes' in answer) waiting?.resolve(Buffer.from(answer.bytes));
    else waiting?.reject(new NotResized(answer.error, answer.isLate));
    if (this.#waiting.size > 0) return;
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => this.#child?.kill('SIGKILL'), IDLE_MS).unref();
  }

  #lost(child: ChildProcess): void {
    if (this.#child !== child) return;
    this.#child = null;
    for (const { reject } of this.#waiting.values())
      reject(new NotResized('the process that resizes pictures ended', true));
    this.#waiting.clear();
  }
}

/** A picture could not be resized: it is not what its header says, or (`isLate`) there was no time or memory for it now. */
export class NotResized extends Error {
  readonly isLate: boolean;

  constructor(reason: string, isLate: boolean) {
    super(`the picture could not be resized: ${reason}`);
    this.isLate = isLate;
  }
}

/** The queue is full: nothing was begun. */
export class QueueFull extends Error {}

/**
 * Runs `runningMax` pieces of work at once and lets `waitingMax` wait; more are refused with {@link QueueFull}. Who is aborted while
 * waiting frees its place, and gets the signal's reason.
 */
export class BoundedQueue {
  readonly #runningMax: number;
  readonly #waitingMax: number;
  readonly #waiting = new Set<() => void>();
  #running = 0;

  constructor(runningMax: number, waitingMax: number) {
    this.#runningMax = runningMax;
    this.#waitingMax = waitingMax;
  }

  async run<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    signal.throwIfAborted();
    if (this.#running >= this.#runningMax) await this.#turn(signal);
    else this.#running++;
    try {
      return await work();
    } finally {
      this.#pass();
    }
  }

  #turn(signal: AbortSignal): Promise<void> {
    if (this.#waiting.size >= this.#waitingMax) throw new QueueFull('too much is waiting already');
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const begin = () => {
      signal.removeEventListener('abort', leave);
      resolve();
    };
    const leave = () => {
      this.#waiting.delete(begin);
      reject(signal.reason);
    };
    this.#waiting.add(begin);
    signal.addEventListener('abort', leave, { once: true });
    return promise;
  }

  /** Starts the first waiting task when a running one is done. */
  #pass(): void {
    const [next] = this.#waiting;
    if (!next) {
      this.#running--;
      return;
    }
    this.#waiting.delete(next);
    next();
  }
}

/** Pictures by name, up to `bytesMax` bytes together; the one that was not asked for longest goes first. */
export class PictureCache {
  readonly #bytesMax: number;
  readonly #pictures = new Map<string, Buffer>();
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get(name: string): Buffer | undefined {
    const found = this.#pictures.get(name);
    if (found) {
      this.#pictures.delete(name);
      this.#pictures.set(name, found);
    }
    return found;
  }

  set(name: string, picture: Buffer): void {
    this.#remove(name);
    if (picture.length > this.#bytesMax) return;
    this.#pictures.set(name, picture);
    this.#bytes += picture.length;
    for (const oldest of this.#pictures.keys()) {
      if (this.#bytes <= this.#bytesMax) break;
      this.#remove(oldest);
    }
  }

  #remove(name: string): void {
    this.#bytes -= this.#pictures.get(name)?.length ?? 0;
    this.#pictures.delete(name);
  }
}
