import { Worker } from 'node:worker_threads';
import type { PackedScan } from '../evidence/packed-scan.ts';
import type { GroupOutcome, GroupResult, RuleJob } from '../rules/evaluation/rule-job.ts';
import type { Inspection } from './inspect.ts';
import type { ThreadMessage, ThreadRequest } from './messages.ts';

/** What a thread may use beyond the budget of what it runs, before it is ended: one step of it cannot look at the clock. In ms of CPU. */
const GRACE_MS = 1_000;
/** CPU of preparing a job: unpacking evidence and compiling rules. */
const PREPARE_MS = 30_000;
const LOOK_EVERY_MS = 200;
const HEAP_MB_MAX = 512;

const NOTHING: GroupResult = { matches: [], finished: [], unreadable: [], elapsed_ms: 0 };

/** A task with the CPU that it may use until the next sign of progress. */
type Task = {
  request: ThreadRequest;
  limitMs: number;
  onMessage(message: ThreadMessage): { limitMs?: number; over?: boolean };
  /** The thread is gone: why. */
  lost(why: string): void;
};

/**
 * Runs rules, compiles expressions and inspects evidence in threads, so that no pattern and no page holds up the process. Threads are
 * started when they are needed; one that uses more CPU than its work may is ended, and replaced by the next task.
 */
export class AnalysisThreads {
  readonly #size: number;
  #idle: Thread[] = [];
  readonly #waiting: Task[] = [];
  readonly #all = new Set<Thread>();

  constructor(size: number) {
    this.#size = size;
  }

  /** The outcome of each group of a job, in their order; groups that a shared budget no longer covered have found nothing. */
  async run(job: RuleJob): Promise<GroupOutcome[]> {
    const outcomes = await this.#runOnce(job);
    const left = job.groups.slice(outcomes.length);
    if (left.length === 0) return outcomes;
    if (job.shared) return [...outcomes, ...left.map(() => ({ ...NOTHING, ended: 'run' as const }))];
    return [...outcomes, ...(await this.run({ ...job, groups: left }))];
  }

  /** Why RE2 refuses each of these patterns; null: it takes it. */
  problemsOf(patterns: string[]): Promise<(string | null)[]> {
    return new Promise((resolve) => {
      this.#take({
        request: { patterns },
        limitMs: PREPARE_MS,
        onMessage: (message) => {
          if ('problems' in message) resolve(message.problems);
          return { over: true };
        },
        lost: () => resolve(patterns.map(() => 'pattern too large')),
      });
    });
  }

  /** What the evidence of a scan shows; rejects where it cannot be unpacked, or takes the thread with it. */
  inspect(inspected: PackedScan): Promise<Inspection> {
    return new Promise((resolve, reject) => {
      this.#take({
        request: { inspected },
        limitMs: PREPARE_MS,
        onMessage: (message) => {
          if ('inspection' in message) resolve(message.inspection);
          if ('failed' in message) reject(new Error(message.failed));
          return { over: true };
        },
        lost: (why) => reject(new Error(`the evidence could not be inspected: ${why}`)),
      });
    });
  }

  /** Ends all threads; what is under way is lost. */
  async close(): Promise<void> {
    this.#waiting.length = 0;
    await Promise.all([...this.#all].map((thread) => thread.terminate()));
  }

  /** The groups up to the last one, or up to the one in which the thread had to be ended. */
  #runOnce(job: RuleJob): Promise<GroupOutcome[]> {
    const results: GroupResult[] = [];
    let current = -1;
    const limitMs = job.budgetMs + GRACE_MS;
    return new Promise((resolve, reject) => {
      this.#take({
        request: { job },
        limitMs: PREPARE_MS,
        onMessage: (message) => {
          if ('began' in message) current = message.began;
          if ('group' in message) results[message.group] = message.result;
          if ('failed' in message) reject(new Error(message.failed));
          if ('done' in message) resolve(results.map((result) => ({ ...result, ended: 'run' as const })));
          return 'began' in message ? { limitMs } : { over: 'done' in message || 'failed' in message };
        },
        lost: (why) => {
          if (current < 0) return reject(new Error(`the rules could not be prepared: ${why}`));
          const known = Array.from({ length: current + 1 }, (_, at) => results[at] ?? NOTHING);
          resolve(
            known.map((result, at) => ({ ...result, ended: at === current ? ('killed' as const) : ('run' as const) })),
          );
        },
      });
    });
  }

  #take(task: Task): void {
    const thread = this.#idle.pop() ?? (this.#all.size < this.#size ? this.#start() : null);
    if (thread) thread.take(task);
    else this.#waiting.push(task);
  }

  #start(): Thread {
    const thread = new Thread({
      free: () => {
        const next = this.#waiting.shift();
        if (next) thread.take(next);
        else this.#idle.push(thread);
      },
      gone: () => {
        this.#all.delete(thread);
        this.#idle = this.#idle.filter((one) => one !== thread);
        const next = this.#waiting.shift();
        if (next) this.#take(next);
      },
    });
    this.#all.add(thread);
    return thread;
  }
}

/** A thread with the task that it has, if any. Without one it does not keep the process alive. */
class Thread {
  readonly #worker = new Worker(new URL('./analysis-thread.ts', import.meta.url), {
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MB_MAX },
  });
  readonly #owner: { free(): void; gone(): void };
  #task: Task | null = null;
  #limitMs = 0;
  /** What the worker had used when the limit began to count; null: that is to be seen. */
  #since: number | null = null;
  #watch: NodeJS.Timeout | undefined;
  #why = 'it took too long';

  constructor(owner: { free(): void; gone(): void }) {
    this.#owner = owner;
    this.#worker.on('message', (message: ThreadMessage) => this.#onMessage(message));
    this.#worker.on('error', (error) => {
      this.#why = String(error);
    });
    this.#worker.on('exit', () => {
      clearInterval(this.#watch);
      const task = this.#task;
      this.#task = null;
      this.#owner.gone();
      task?.lost(this.#why);
    });
  }

  take(task: Task): void {
    this.#task = task;
    this.#begin(task.limitMs);
    this.#worker.ref();
    this.#watch = setInterval(() => void this.#look(), LOOK_EVERY_MS);
    this.#worker.postMessage(task.request);
  }

  async terminate(): Promise<void> {
    await this.#worker.terminate();
  }

  #begin(limitMs: number): void {
    [this.#limitMs, this.#since] = [limitMs, null];
  }

  #onMessage(message: ThreadMessage): void {
    const { limitMs, over } = this.#task?.onMessage(message) ?? {};
    if (limitMs !== undefined) this.#begin(limitMs);
    if (!over) return;
    clearInterval(this.#watch);
    this.#task = null;
    this.#worker.unref();
    this.#owner.free();
  }

  async #look(): Promise<void> {
    const used = await cpuOf(this.#worker);
    if (used === null || !this.#task) return;
    this.#since ??= used;
    if (used - this.#since > this.#limitMs) await this.terminate();
  }
}

/** Milliseconds of CPU that the thread has used; null while it cannot be said. */
async function cpuOf(thread: Worker): Promise<number | null> {
  try {
    const { user, system } = await thread.cpuUsage();
    return (user + system) / 1000;
  } catch {
    return null;
  }
}
