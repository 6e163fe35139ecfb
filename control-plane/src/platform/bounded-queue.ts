const NEVER = new AbortController().signal;

/** The queue is full; the task was not started. */
export class QueueFull extends Error {}

/** How many tasks run at once, how many wait, and how many of these may be those of one owner (absent: all of them). */
export type QueueBounds = { running: number; waiting: number; waitingEach?: number };

/** `owner`: whom the task is for, such as an organization. */
export type QueuedBy = { owner?: string; signal?: AbortSignal };

/**
 * Runs up to `running` tasks at once and lets `waiting` wait; others are refused with {@link QueueFull}. Owners share
 * the queue: when a task has ended, the next one is of the owner who has the fewest running, and of several such
 * owners, of the one who was served longest ago. A task that is aborted while it waits leaves the queue and rejects
 * with the signal's reason.
 */
export class BoundedQueue {
  readonly #bounds: Required<QueueBounds>;
  /** The owner of each running task. */
  readonly #running: string[] = [];
  /** Waiting tasks by owner; the owner who was served longest ago is first. */
  readonly #waiting = new Map<string, Set<() => void>>();

  constructor({ running, waiting, waitingEach = waiting }: QueueBounds) {
    this.#bounds = { running, waiting, waitingEach };
  }

  async run<T>(work: () => Promise<T>, { owner = '', signal = NEVER }: QueuedBy = {}): Promise<T> {
    signal.throwIfAborted();
    if (this.#running.length >= this.#bounds.running) await this.#wait(owner, signal);
    else this.#running.push(owner);
    try {
      return await work();
    } finally {
      this.#running.splice(this.#running.indexOf(owner), 1);
      this.#startNext();
    }
  }

  /** Resolves when a running task has ended and this one counts as running. */
  #wait(owner: string, signal: AbortSignal): Promise<void> {
    const own = this.#waiting.get(owner) ?? new Set();
    const all = [...this.#waiting.values()].reduce((sum, { size }) => sum + size, 0);
    if (all >= this.#bounds.waiting || own.size >= this.#bounds.waitingEach)
      throw new QueueFull('too many tasks are waiting');
    this.#waiting.set(owner, own);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const begin = () => {
      signal.removeEventListener('abort', leave);
      this.#running.push(owner);
      resolve();
    };
    const leave = () => {
      own.delete(begin);
      if (own.size === 0) this.#waiting.delete(owner);
      reject(signal.reason);
    };
    own.add(begin);
    signal.addEventListener('abort', leave, { once: true });
    return promise;
  }

  /** Starts the next waiting task when a running one has ended. */
  #startNext(): void {
    const runningOf = (owner: string) => this.#running.filter((one) => one === owner).length;
    const owners = [...this.#waiting.keys()].map((owner) => ({ owner, running: runningOf(owner) }));
    if (owners.length === 0) return;
    const { owner } = owners.reduce((best, one) => (one.running < best.running ? one : best));
    const own = this.#waiting.get(owner)!;
    const [next] = own;
    this.#waiting.delete(owner);
    if (!next) return;
    own.delete(next);
    if (own.size > 0) this.#waiting.set(owner, own);
    next();
  }
}
