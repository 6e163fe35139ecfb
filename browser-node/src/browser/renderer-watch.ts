import { CompositorWatch, DRAWING_MS_MAX } from './compositor-watch.ts';
import type { Crowded } from './context-observers.ts';
import { ProcFiles } from './proc-files.ts';
import {
  cpuSecondsIn,
  groupOf,
  isNetworkService,
  LOWEST_PRIORITY,
  lowerPriority,
  lowerSessionPriority,
  lowerThreadPriority,
  type Memory,
  memoryIn,
  processIds,
  processType,
  signal,
} from './processes.ts';
import { RendererBrake } from './renderer-brake.ts';
import { CROWD, competing, RendererCrowd } from './renderer-crowd.ts';
import { CAPTURE_BYTES, chargeGrowth, excessive, freeBytes, type Held, sumOf } from './renderer-memory.ts';
import { busyWorkers } from './worker-threads.ts';

/**
 * How often the known renderers are looked at: a script can fill a gigabyte in a second. New ones are looked for once
 * in so many ticks.
 */
const TICK_MS = 100;
const TICKS_A_SAMPLE = 5;
/** How long a renderer that ended is kept in the list. */
const REMEMBERED_MS = 30_000;

/** How long the renderers of a context that leaves the browser, or was closed, may take until they have ended, in ms. */
const LEAVES_MS = 2_000;

/**
 * Seconds of CPU after which a renderer gets a lower priority, and which (setpriority(2)): a page that is about done
 * goes first.
 */
const PRIORITIES: [cpuSeconds: number, nice: number][] = [
  [8, LOWEST_PRIORITY],
  [4, 12],
  [2, 6],
  [1, 3],
];

/** A running renderer at the last sample. */
type Renderer = Held & { cpuSeconds: number; nice: number };

/**
 * `ended`: called for each renderer that is ended for its memory, with the memory that it held. `stuck`: called once
 * the browser has drawn one page for longer than {@link DRAWING_MS_MAX}; `contexts`: how many it has. `crowded`: called
 * when the renderers hold too much memory together, and some would end that hold little, or when they leave each other
 * no CPU; a context with `least` documents, or, for the CPU, documents and workers, may be the cause. Returns whether one
 * is leaving the browser. `flooded`: called before renderers are ended that ask more of the processes which all share
 * than these can do, for seconds, while others use them.
 */
type Actions = {
  ended: (renderer: Held & { pid: number }) => void;
  stuck: (contexts: number) => void;
  crowded: (least: number, of: Crowded) => boolean;
  flooded: () => void;
};

/** The priority of a renderer that has used so much CPU. Pure. */
export const priorityOf = (cpuSeconds: number): number =>
  PRIORITIES.find(([seconds]) => cpuSeconds >= seconds)?.[1] ?? 0;

/**
 * Watches the memory and the CPU time of the renderers in a Chromium's process group: it ends renderers that hold too
 * much, and lowers the priority of those that use much CPU, and of workers that crowd it, so that they do not delay the
 * pages of others. It reports when drawing one page has stopped the drawing of all others, and lowers the priority of the process that draws it if
 * there are no others. Does nothing on a system without /proc.
 */
export class RendererWatch {
  readonly #groupId: number;
  readonly #bytesMax: number;
  readonly #renderers = new Map<number, Renderer>();
  /** Processes that are not renderers of the group and never will be. */
  readonly #others = new Set<number>();
  /** The other processes of the group. */
  readonly #longLived = new Set<number>();
  readonly #on: Partial<Actions>;
  #contexts = 0;
  #browserBytes = 0;
  #ended: { bytes: number; at: number }[] = [];
  #timer: NodeJS.Timeout | undefined;
  #ticks = 0;
  readonly #files = new ProcFiles();
  readonly #brake: RendererBrake;
  readonly #crowd = new RendererCrowd();
  readonly #compositor: CompositorWatch;
  #networkPid: number | null = null;
  #gpuPid: number | null = null;
  #isStuck = false;
  /** The least that each renderer has of setpriority(2), whatever it has used. */
  #niceMin = 0;
  #sampledAt = performance.now();
  /** Until when a context that leaves the browser is waited for. */
  #leavesUntil = 0;
  /** How many contexts there were before some were closed, and until when their renderers may still be ending. */
  #closing = { contexts: 0, until: 0 };

  constructor(groupId: number, bytesMax: number, on: Partial<Actions> = {}) {
    this.#groupId = groupId;
    this.#on = on;
    this.#brake = new RendererBrake(groupId, (pid) => this.#cpuSecondsOf(pid), this.#files);
    this.#compositor = new CompositorWatch(this.#files);
    this.#bytesMax = bytesMax;
  }

  /** Samples while there are contexts: only then a browser has renderers. */
  follow(contexts: number): void {
    const now = performance.now();
    if (contexts < this.#contexts)
      this.#closing = { contexts: this.#contextsWithRenderers(now), until: now + LEAVES_MS };
    this.#contexts = contexts;
    if (contexts > 0) {
      this.#timer ??= setInterval(() => this.#tick(), TICK_MS).unref();
      return;
    }
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#brake.release();
    this.#files.keep(NONE);
  }

  /**
   * For how many ms the threads that serve all renderers had no time left since `at` (`performance.now()`), over the
   * last minutes.
   */
  congestedMs(at: number): number {
    return this.#brake.congestedMs(at);
  }

  /** Gives the browser process and all renderers the lowest priority: only one context has to wait for them. */
  goLast(): void {
    this.#niceMin = LOWEST_PRIORITY;
    lowerSessionPriority(this.#groupId, LOWEST_PRIORITY);
    for (const pid of [this.#groupId, ...this.#renderers.keys()]) lowerPriority(pid, LOWEST_PRIORITY);
    for (const pid of processIds().map(Number))
      if (groupOf(pid) === this.#groupId && processType(pid) === 'zygote') lowerPriority(pid, LOWEST_PRIORITY);
  }

  /**
   * Whether a renderer has just ended that, when last seen, used at least half of its limit, or was ended for its
   * memory.
   */
  endedForMemory(): boolean {
    this.#sample();
    if (!this.#timer) this.#files.keep(NONE);
    return this.#ended.some(({ bytes }) => bytes >= this.#bytesMax / 2);
  }

  #tick(): void {
    this.#ticks += 1;
    if (this.#ticks % TICKS_A_SAMPLE === 1) this.#sample();
    else this.#endExcessive(performance.now());
    this.#brake.tick([...this.#renderers.keys()], this.#networkPid);
    this.#endFlooders();
    this.#tellIfStuck();
  }

  /** Which contexts they belong to is not known before they crash. */
  #endFlooders(): void {
    const pids = this.#contexts > 1 ? this.#brake.takeFlooders() : [];
    if (pids.length > 0) this.#on.flooded?.();
    for (const pid of pids) if (groupOf(pid) === this.#groupId) signal(pid, 'SIGKILL');
  }

  #endExcessive(now: number): void {
    for (const [pid, renderer] of this.#renderers) {
      const { resident: bytes, own } = this.#memoryOf(pid);
      if (bytes > 0) this.#renderers.set(pid, { ...renderer, bytes, own });
    }
    this.#endThose(now);
  }

  /**
   * Which context a small renderer belongs to is not known: before one ends, the context that has most documents leaves
   * the browser, if others use it.
   */
  #endThose(now: number): void {
    const contexts = this.#contextsWithRenderers(now);
    let ends = excessive(this.#renderers, this.#bytesMax, contexts);
    if (ends.length === 0) return;
    const endsSmall = ends.some((pid) => this.#isSmall(pid));
    if (endsSmall && this.#contexts > 1 && now >= this.#leavesUntil && this.#on.crowded?.(2, 'memory'))
      this.#leavesUntil = now + LEAVES_MS;
    if (now < this.#leavesUntil) ends = excessive(this.#renderers, this.#bytesMax, contexts, CAPTURE_BYTES, true);
    for (const pid of ends) this.#end(pid, now);
  }

  #contextsWithRenderers(now: number): number {
    return now < this.#closing.until ? Math.max(this.#closing.contexts, this.#contexts) : this.#contexts;
  }

  #isSmall(pid: number): boolean {
    const { own = 0, charged = 0 } = this.#renderers.get(pid) ?? {};
    return own + charged <= CAPTURE_BYTES;
  }

  #sample(): void {
    const now = performance.now();
    this.#ended = this.#ended.filter(({ at }) => now - at < REMEMBERED_MS);
    const pids = new Set(processIds().map(Number));
    for (const set of [this.#others, this.#longLived]) for (const pid of set) if (!pids.has(pid)) set.delete(pid);
    for (const pid of this.#renderers.keys()) if (!pids.has(pid)) this.#hasEnded(pid, now);
    const cpuUsed = new Map<Renderer, number>();
    for (const pid of pids) if (!this.#others.has(pid)) this.#measure(pid, now, cpuUsed);
    this.#chargeGrowth(cpuUsed);
    this.#endThose(now);
    const competitors = competing([...cpuUsed.values()], (now - this.#sampledAt) / 1_000);
    this.#sampledAt = now;
    const workers = busyWorkers([...this.#renderers.keys()], CROWD);
    for (const thread of workers) lowerThreadPriority(thread, LOWEST_PRIORITY);
    const least = this.#crowd.sizeOfCause(competitors, workers.length, now);
    if (least > 0) this.#on.crowded?.(least, 'cpu');
    this.#files.keep(pids);
  }

  #tellIfStuck(): void {
    const isStuck = this.#compositor.drawingMs(this.#gpuPid) > DRAWING_MS_MAX;
    const isNew = isStuck && !this.#isStuck;
    this.#isStuck = isStuck;
    if (!isNew) return;
    if (this.#contexts === 1 && this.#gpuPid !== null) lowerPriority(this.#gpuPid, LOWEST_PRIORITY);
    this.#on.stuck?.(this.#contexts);
  }

  /** The CPU time of all threads of a process. */
  #cpuSecondsOf(pid: number): number {
    return cpuSecondsIn(this.#files.read(pid, 'stat'));
  }

  #memoryOf(pid: number): Memory {
    return memoryIn(this.#files.read(pid, 'statm'));
  }

  #measure(pid: number, now: number, cpuUsed: Map<Renderer, number>): void {
    if (!this.#renderers.has(pid) && !this.#isRenderer(pid)) return;
    const { resident: bytes, own } = this.#memoryOf(pid);
    if (bytes === 0) {
      // A zombie: it has ended and was not reaped yet.
      this.#others.add(pid);
      this.#hasEnded(pid, now);
      return;
    }
    const before = this.#renderers.get(pid) ?? { cpuSeconds: 0, nice: 0, charged: 0 };
    const cpuSeconds = this.#cpuSecondsOf(pid);
    const nice = Math.max(priorityOf(cpuSeconds), this.#niceMin);
    if (nice > before.nice) lowerPriority(pid, nice);
    const renderer = { ...before, bytes, own, cpuSeconds, nice };
    this.#renderers.set(pid, renderer);
    cpuUsed.set(renderer, cpuSeconds - before.cpuSeconds);
  }

  #chargeGrowth(cpuUsed: ReadonlyMap<Renderer, number>): void {
    const bytes = sumOf([...this.#longLived].map((pid) => this.#memoryOf(pid).resident));
    const free = freeBytes(this.#contexts);
    chargeGrowth([...this.#renderers.values()], cpuUsed, { before: this.#browserBytes, bytes, free });
    this.#browserBytes = bytes;
  }

  #isRenderer(pid: number): boolean {
    const groupId = groupOf(pid);
    if (groupId === null) return false;
    const type = groupId === this.#groupId ? processType(pid) : '';
    // Renderers are forked from a zygote and have its command line at first.
    if (type === 'zygote') return false;
    if (type === 'renderer') return true;
    this.#others.add(pid);
    if (groupId !== this.#groupId) return false;
    this.#longLived.add(pid);
    if (isNetworkService(pid)) this.#networkPid = pid;
    if (type === 'gpu-process') this.#gpuPid = pid;
    return false;
  }

  #end(pid: number, now: number): void {
    const held = this.#renderers.get(pid);
    if (groupOf(pid) === this.#groupId) signal(pid, 'SIGKILL');
    if (held) this.#on.ended?.({ pid, bytes: held.bytes, own: held.own, charged: held.charged });
    this.#renderers.delete(pid);
    this.#others.add(pid);
    this.#ended.push({ bytes: this.#bytesMax, at: now });
  }

  #hasEnded(pid: number, now: number): void {
    const bytes = this.#renderers.get(pid)?.bytes;
    if (bytes !== undefined) this.#ended.push({ bytes, at: now });
    this.#renderers.delete(pid);
  }
}

const NONE: ReadonlySet<number> = new Set();
