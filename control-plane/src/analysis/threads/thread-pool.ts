import { Worker } from 'node:worker_threads';

const LOOK_EVERY_MS = 200;
const HEAP_MB_MAX = 512;

/** The reason why tasks of a closed pool are lost. */
export const CLOSED = 'the threads were closed';

/**
 * A task for one thread. Every message of the thread may set a new CPU limit, counted from then on, or end the task.
 * `owner`: the organization that the threads work for; null: the platform.
 */
export type Task<Request, Message> = {
  owner: string | null;
  request: Request;
  /** CPU time in ms until the first message that sets a new limit. */
  limitMs: number;
  onMessage(message: Message): { limitMs?: number; done?: boolean };
  /** Called instead of further messages when the thread has ended, with the reason. */
  onLost(reason: string): void;
};

/**
 * Threads that run one task each at a time. They are started when they are needed and do not keep the process alive
 * while idle. One that uses more CPU time than its task may is ended; the next task gets a new one. Owners share the
 * threads: a free one runs a task of the owner who has the fewest running, and of several such owners, of the one who
 * was served longest ago.
 */
export class ThreadPool<Request, Message> {
  readonly #script: URL;
  readonly #size: number;
  #idle: Thread<Request, Message>[] = [];
  /** Waiting tasks by owner; the owner who was served longest ago is first. */
  readonly #waiting = new Map<string | null, Task<Request, Message>[]>();
  #isClosed = false;
  readonly #all = new Set<Thread<Request, Message>>();

  constructor(script: URL, size: number) {
    this.#script = script;
    this.#size = size;
  }

  /** Runs a task as soon as a thread is free. */
  run(task: Task<Request, Message>): void {
    if (this.#isClosed) {
      task.onLost(CLOSED);
      return;
    }
    const thread = this.#idle.pop() ?? (this.#all.size < this.#size ? this.#start() : null);
    if (thread) thread.run(task);
    else if (!this.#waiting.get(task.owner)?.push(task)) this.#waiting.set(task.owner, [task]);
  }

  /** Ends all threads for good; running and waiting tasks are lost. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (let task = this.#next(); task; task = this.#next()) task.onLost(CLOSED);
    await Promise.all([...this.#all].map((thread) => thread.terminate(CLOSED)));
  }

  #start(): Thread<Request, Message> {
    const thread: Thread<Request, Message> = new Thread(this.#script, {
      onIdle: () => {
        const next = this.#next();
        if (next) thread.run(next);
        else this.#idle.push(thread);
      },
      onExit: () => {
        this.#all.delete(thread);
        this.#idle = this.#idle.filter((one) => one !== thread);
        const next = this.#next();
        if (next) this.run(next);
      },
    });
    this.#all.add(thread);
    return thread;
  }

  /** Takes the next task out of the waiting ones. */
  #next(): Task<Request, Message> | undefined {
    const runningOf = (owner: string | null) => [...this.#all].filter((thread) => thread.isRunningFor(owner)).length;
    const owners = [...this.#waiting.keys()].map((owner) => ({ owner, running: runningOf(owner) }));
    if (owners.length === 0) return undefined;
    const { owner } = owners.reduce((best, one) => (one.running < best.running ? one : best));
    const [task, ...others] = this.#waiting.get(owner)!;
    this.#waiting.delete(owner);
    if (others.length > 0) this.#waiting.set(owner, others);
    return task;
  }
}

/** A thread and its task, if it has one. */
class Thread<Request, Message> {
  readonly #worker: Worker;
  readonly #owner: { onIdle(): void; onExit(): void };
  #task: Task<Request, Message> | null = null;
  #limitMs = 0;
  /** CPU time of the worker when the limit began to count; null until it is first read. */
  #since: number | null = null;
  #watch: NodeJS.Timeout | undefined;
  #reason = 'it ended';

  constructor(script: URL, owner: { onIdle(): void; onExit(): void }) {
    this.#worker = new Worker(script, { resourceLimits: { maxOldGenerationSizeMb: HEAP_MB_MAX } });
    this.#owner = owner;
    this.#worker.on('message', (message: Message) => this.#onMessage(message));
    this.#worker.on('error', (error) => {
      this.#reason = String(error);
    });
    this.#worker.on('exit', () => {
      clearInterval(this.#watch);
      const task = this.#task;
      this.#task = null;
      this.#owner.onExit();
      task?.onLost(this.#reason);
    });
  }

  isRunningFor(owner: string | null): boolean {
    return this.#task !== null && this.#task.owner === owner;
  }

  run(task: Task<Request, Message>): void {
    this.#task = task;
    this.#setLimit(task.limitMs);
    this.#worker.ref();
    this.#watch = setInterval(() => void this.#checkLimit(), LOOK_EVERY_MS);
    this.#worker.postMessage(task.request);
  }

  /** Ends the thread; its task is lost for this reason. */
  async terminate(reason: string): Promise<void> {
    this.#reason = reason;
    await this.#worker.terminate();
  }

  #setLimit(limitMs: number): void {
    [this.#limitMs, this.#since] = [limitMs, null];
  }

  #onMessage(message: Message): void {
    const { limitMs, done } = this.#task?.onMessage(message) ?? {};
    if (limitMs !== undefined) this.#setLimit(limitMs);
    if (!done) return;
    clearInterval(this.#watch);
    this.#task = null;
    this.#worker.unref();
    this.#owner.onIdle();
  }

  async #checkLimit(): Promise<void> {
    const used = await cpuOf(this.#worker);
    if (used === null || !this.#task) return;
    this.#since ??= used;
    if (used - this.#since > this.#limitMs) await this.terminate('it took too long');
  }
}

/** CPU time of a thread in ms; null while it cannot be read. */
async function cpuOf(thread: Worker): Promise<number | null> {
  try {
    const { user, system } = await thread.cpuUsage();
    return (user + system) / 1000;
  } catch {
    return null;
  }
}
