const NEVER = new AbortController().signal;

/** The queue is full; the task was not started. */
export class QueueFull extends Error {}

/**
 * Runs up to `runningMax` tasks at once and lets `waitingMax` wait; others are refused with {@link QueueFull}. A task that is aborted while
 * it waits leaves the queue and rejects with the signal's reason.
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

  async run<T>(work: () => Promise<T>, signal: AbortSignal = NEVER): Promise<T> {
    signal.throwIfAborted();
    if (this.#running >= this.#runningMax) await this.#wait(signal);
    else this.#running++;
    try {
      return await work();
    } finally {
      this.#startNext();
    }
  }

  /** Resolves when a running task has ended and this one may start. */
  #wait(signal: AbortSignal): Promise<void> {
    if (this.#waiting.size >= this.#waitingMax) throw new QueueFull('too many tasks are waiting');
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

  /** Starts the first waiting task when a running one has ended. */
  #startNext(): void {
    const [next] = this.#waiting;
    if (!next) {
      this.#running--;
      return;
    }
    this.#waiting.delete(next);
    next();
  }
}
