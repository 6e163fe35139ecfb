import { BYTES_PER_SLOT, defaultSlots, thisMachine } from '../machine/default-slots.ts';
import { CompositorWatch, DRAWING_MS_MAX } from './compositor-watch.ts';
import { ProcFiles } from './proc-files.ts';
import {
  cpuSecondsIn,
  groupOf,
  isNetworkService,
  lowerPriority,
  type Memory,
  memoryIn,
  processIds,
  processType,
  residentBytes,
  signal,
} from './processes.ts';
import { RendererBrake } from './renderer-brake.ts';

/**
 * How often the known renderers are looked at: a script can fill a gigabyte in a second. New ones are looked for once
 * in so many ticks.
 */
const TICK_MS = 100;
const TICKS_A_SAMPLE = 5;
/** How long a renderer that ended is kept in the list. */
const REMEMBERED_MS = 30_000;

const MACHINE = thisMachine();
/**
 * The most memory, in bytes, that one renderer may use: the rest must be enough for the browser and its other pages.
 * What a script asks of the browser waits in its renderer's memory too: a flood of requests ends here before it delays
 * other pages.
 */
export const RENDERER_BYTES_MAX = Math.min(2 ** 30, MACHINE.memoryBytes * 0.5);
/**
 * Memory of the renderers of an ordinary capture: what a slot is planned with, and where there is more, its part of
 * half the memory. A sweep of 30 ads holds some 500 MB.
 */
const CAPTURE_BYTES = Math.max(BYTES_PER_SLOT, (MACHINE.memoryBytes * 0.5) / defaultSlots(MACHINE).most);
/**
 * Memory of a browser's long-lived processes that is charged to no capture, with one context and for each further one:
 * beyond it, growth is charged to the renderers that are busy meanwhile. Nine ordinary captures at once take up to 870
 * MB.
 */
const BROWSER_BYTES_FREE = 512 * 1024 * 1024;
const CONTEXT_BYTES_FREE = 64 * 1024 * 1024;

const LOWEST_PRIORITY = 19;
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

/**
 * Bytes of memory: all that a renderer holds, the part that no other process shares, and the part of the browser's that
 * it caused.
 */
type Held = { bytes: number; own: number; charged: number };
/** A running renderer at the last sample. */
type Renderer = Held & { cpuSeconds: number; nice: number };

/**
 * `ended`: called for each renderer that is ended for its memory, with the memory that it held. `stuck`: called once
 * the browser has drawn one page for longer than {@link DRAWING_MS_MAX}; `contexts`: how many it has.
 */
type Actions = { ended: (renderer: Held & { pid: number }) => void; stuck: (contexts: number) => void };

/** The priority of a renderer that has used so much CPU. Pure. */
export const priorityOf = (cpuSeconds: number): number =>
  PRIORITIES.find(([seconds]) => cpuSeconds >= seconds)?.[1] ?? 0;

/**
 * The renderers that must end, by process id: each that holds more than `bytesMax`, its charge included; and while all
 * together hold more than `bytesMax` and `captureBytes` for each context after the first, first the largest of those
 * that hold more than a whole capture should, `captureBytes`, then the newest: a page with many small renderers must
 * not end those of other captures, which are larger. `renderers`: the oldest first. Pure.
 */
export function excessive(
  renderers: ReadonlyMap<number, Held>,
  bytesMax: number,
  contexts: number,
  captureBytes = CAPTURE_BYTES,
): number[] {
  const newestFirst = [...renderers].reverse().map(([pid, held]) => ({
    pid,
    own: held.own + held.charged,
    all: held.bytes + held.charged,
  }));
  const largeBytes = (own: number) => (own > captureBytes ? own : 0);
  const inTurn = newestFirst.toSorted((a, b) => largeBytes(b.own) - largeBytes(a.own));
  const sumMax = bytesMax + Math.max(0, contexts - 1) * captureBytes;
  let sum = sumOf(inTurn.map(({ own }) => own));
  const ends: number[] = [];
  for (const { pid, own, all } of inTurn) {
    if (all <= bytesMax && sum <= sumMax) continue;
    ends.push(pid);
    sum -= own;
  }
  return ends;
}

/**
 * Watches the memory and the CPU time of the renderers in a Chromium's process group: it ends renderers that hold too
 * much, and lowers the priority of those that use much CPU, so that they do not delay the pages of others. It reports
 * when drawing one page has stopped the drawing of all others, and lowers the priority of the process that draws it if
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
  readonly #compositor: CompositorWatch;
  #networkPid: number | null = null;
  #gpuPid: number | null = null;
  #isStuck = false;

  constructor(groupId: number, bytesMax: number, on: Partial<Actions> = {}) {
    this.#groupId = groupId;
    this.#on = on;
    this.#brake = new RendererBrake(groupId, (pid) => this.#cpuSecondsOf(pid), this.#files);
    this.#compositor = new CompositorWatch(this.#files);
    this.#bytesMax = bytesMax;
  }

  /** Samples while there are contexts: only then a browser has renderers. */
  follow(contexts: number): void {
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

  /** Gives the browser process and the renderers to come the lowest priority: only one context has to wait for them. */
  goLast(): void {
    lowerPriority(this.#groupId, LOWEST_PRIORITY);
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
    this.#tellIfStuck();
  }

  #endExcessive(now: number): void {
    for (const [pid, renderer] of this.#renderers) {
      const { resident: bytes, own } = this.#memoryOf(pid);
      if (bytes > 0) this.#renderers.set(pid, { ...renderer, bytes, own });
    }
    for (const pid of excessive(this.#renderers, this.#bytesMax, this.#contexts)) this.#end(pid, now);
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
    for (const pid of excessive(this.#renderers, this.#bytesMax, this.#contexts)) this.#end(pid, now);
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
    const nice = priorityOf(cpuSeconds);
    if (nice > before.nice) lowerPriority(pid, nice);
    const renderer = { ...before, bytes, own, cpuSeconds, nice };
    this.#renderers.set(pid, renderer);
    cpuUsed.set(renderer, cpuSeconds - before.cpuSeconds);
  }

  #chargeGrowth(cpuUsed: ReadonlyMap<Renderer, number>): void {
    const bytes = sumOf([...this.#longLived].map((pid) => this.#memoryOf(pid).resident));
    const free = BROWSER_BYTES_FREE + Math.max(0, this.#contexts - 1) * CONTEXT_BYTES_FREE;
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

/**
 * Charges the growth of a browser's own memory beyond `free` to the renderers that used CPU meanwhile: pages can fill
 * it with what they hand over (blobs, messages), and only their CPU shows whose it is. The sum of all charges is at
 * most the memory beyond `free`: memory that comes and goes with each capture would otherwise be charged again and
 * again to the pages that stay.
 */
export function chargeGrowth<T extends { charged: number }>(
  renderers: readonly T[],
  cpuUsed: ReadonlyMap<T, number>,
  { before, bytes, free }: { before: number; bytes: number; free: number },
): void {
  const growth = Math.max(0, bytes - Math.max(before, free));
  const seconds = sumOf([...cpuUsed.values()]);
  if (seconds > 0) for (const [renderer, used] of cpuUsed) renderer.charged += growth * (used / seconds);
  const beyond = Math.max(0, bytes - free);
  const charged = sumOf(renderers.map((one) => one.charged));
  if (charged > beyond) for (const renderer of renderers) renderer.charged *= beyond / charged;
}

const sumOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);

const NONE: ReadonlySet<number> = new Set();

/**
 * Bytes of memory of a process group's long-lived processes: all but Chromium's renderers, which start and end with
 * their pages. null where the system has no /proc.
 */
export function longLivedMemory(groupId: number): number | null {
  const pids = processIds();
  if (pids.length === 0) return null;
  const longLived = pids.filter((pid) => groupOf(pid) === groupId && processType(pid) !== 'renderer');
  return longLived.reduce((sum, pid) => sum + residentBytes(pid), 0);
}
