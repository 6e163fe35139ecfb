import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { BoundedQueue } from '../../platform/bounded-queue.ts';
import type { FoundPicture } from './artifact.ts';
import type { Resized, ResizeRequest } from './resize-process.ts';
import type { Size, WantedSize } from './resize-screenshot.ts';

/** Concurrent resizes: a tall page costs a second of CPU and 100 MB. */
const RUNNING_MAX = 2;
/**
 * Resizes that may wait, and those of one organization among them, which are some seconds of work. They are as many as
 * its requests that are answered at once (`concurrent-requests.ts`), so that no picture of the console is refused while
 * its organization alone asks for pictures.
 */
const WAITING_MAX = 128;
const WAITING_EACH_MAX = 16;
const CACHE_BYTES_MAX = 64 * 1024 * 1024;
/** An idle process is ended after this time, which frees its memory. */
const IDLE_MS = 60_000;

/** `sha256` identifies the bytes of a picture. It is read once its turn has come; null: it was removed. */
type StoredPicture = Size & Pick<FoundPicture, 'sha256' | 'organizationId'> & { read: () => Promise<Readable | null> };

type Waiting = { resolve: (bytes: Buffer) => void; reject: (error: Error) => void };

/**
 * Resizes pictures in a process of its own, so that it blocks neither the event loop nor the thread pool, which file
 * access and compression need. Caches the results. Two resizes run at once and others wait, those of organizations in
 * turn; while {@link WAITING_EACH_MAX} of one organization, or {@link WAITING_MAX} in all, wait, further ones are
 * refused with {@link QueueFull}. One that fails rejects with {@link NotResized}.
 */
export class PicturePool {
  readonly #queue = new BoundedQueue({
    running: RUNNING_MAX,
    waiting: WAITING_MAX,
    waitingEach: WAITING_EACH_MAX,
  });
  readonly #cache = new PictureCache(CACHE_BYTES_MAX);
  readonly #waiting = new Map<number, Waiting>();
  #child: ChildProcess | null = null;
  #lastId = 0;
  #idle: NodeJS.Timeout | undefined;

  /**
   * Returns the picture as WebP, or as a JPEG, in this size. `signal`: the client has disconnected, so that a waiting
   * resize leaves the queue.
   */
  async resize(picture: StoredPicture, wanted: WantedSize, signal: AbortSignal): Promise<Buffer> {
    const name = `${picture.sha256} ${wanted.width} ${wanted.isWhole} ${wanted.isJpeg ?? false}`;
    const cached = this.#cache.get(name);
    if (cached) return cached;
    const work = async () => {
      const cachedMeanwhile = this.#cache.get(name);
      if (cachedMeanwhile) return cachedMeanwhile;
      const stream = await picture.read();
      if (!stream) throw new NotResized('it was removed', false);
      const resized = await this.#resizeInChild(await buffer(stream), picture, wanted);
      this.#cache.set(name, resized);
      return resized;
    };
    return this.#queue.run(work, { owner: picture.organizationId, signal });
  }

  /** Ends the process; running resizes fail. */
  async close(): Promise<void> {
    clearTimeout(this.#idle);
    const child = this.#child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  }

  #resizeInChild(bytes: Buffer, { width, height }: Size, wanted: WantedSize): Promise<Buffer> {
    this.#child ??= this.#start();
    const child = this.#child;
    const id = ++this.#lastId;
    const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
    this.#waiting.set(id, { resolve, reject });
    clearTimeout(this.#idle);
    // One that could not be started, as without a free file descriptor, has no channel; its `error` fails the resize.
    if (child.connected) child.send({ id, bytes, original: { width, height }, wanted } satisfies ResizeRequest);
    return promise;
  }

  #start(): ChildProcess {
    // Pictures are hostile: an exploited decoder must find nothing useful in its environment.
    const child = fork(join(import.meta.dirname, 'resize-process.ts'), [], {
      serialization: 'advanced',
      execArgv: [],
      env: { UV_THREADPOOL_SIZE: String(RUNNING_MAX), MALLOC_ARENA_MAX: '2' },
    });
    // The child must not keep this process alive.
    child.unref();
    child.channel?.unref();
    child.on('message', (reply: Resized) => this.#finish(reply));
    // Each message that cannot be sent to a child that is ending is an error of its own.
    child.on('error', () => this.#fail(child)).once('exit', () => this.#fail(child));
    return child;
  }

  #finish(reply: Resized): void {
    const waiting = this.#waiting.get(reply.id);
    this.#waiting.delete(reply.id);
    if ('bytes' in reply) waiting?.resolve(Buffer.from(reply.bytes));
    else waiting?.reject(new NotResized(reply.error, reply.isLate));
    if (this.#waiting.size > 0) return;
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => this.#child?.kill('SIGKILL'), IDLE_MS).unref();
  }

  /** Fails all resizes of a child that has ended. */
  #fail(child: ChildProcess): void {
    if (this.#child !== child) return;
    this.#child = null;
    for (const { reject } of this.#waiting.values())
      reject(new NotResized('the process that resizes pictures ended', true));
    this.#waiting.clear();
  }
}

/**
 * A picture could not be resized: it was removed, its content does not match its header, or (`isLate`) there was not
 * enough time or memory.
 */
export class NotResized extends Error {
  readonly isLate: boolean;

  constructor(reason: string, isLate: boolean) {
    super(`the picture could not be resized: ${reason}`);
    this.isLate = isLate;
  }
}

/** An LRU cache of pictures by name, up to `bytesMax` bytes in total. */
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
