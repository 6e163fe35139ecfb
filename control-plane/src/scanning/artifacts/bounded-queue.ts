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
