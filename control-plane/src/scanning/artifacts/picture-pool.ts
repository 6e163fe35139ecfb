import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { BoundedQueue } from './bounded-queue.ts';
import { PictureCache } from './picture-cache.ts';
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
 * kept. Beyond two at once and eight that wait a resize is refused with `QueueFull`.
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
    else waiting?.reject(new Error(`the picture could not be resized: ${answer.error}`));
    if (this.#waiting.size > 0) return;
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => this.#child?.kill('SIGKILL'), IDLE_MS).unref();
  }

  #lost(child: ChildProcess): void {
    if (this.#child !== child) return;
    this.#child = null;
    for (const { reject } of this.#waiting.values()) reject(new Error('the process that resizes pictures ended'));
    this.#waiting.clear();
  }
}
