import { totalmem } from 'node:os';
import { groupOf, processIds, processType, residentBytes } from './group-memory.ts';

const SAMPLE_MS = 500;
/** How long a renderer that ended is remembered. */
const REMEMBERED_MS = 30_000;

/** The most memory, in bytes, that one renderer may use: the rest must be enough for the browser and its other pages. */
export const RENDERER_BYTES_MAX = Math.min(2 ** 31, (process.constrainedMemory() || totalmem()) * 0.5);

/**
 * Watches the memory of the renderers in a Chromium's process group, and kills a renderer that uses too much. Does nothing on a system
 * without /proc.
 */
export class RendererMemory {
  readonly #groupId: number;
  readonly #bytesMax: number;
  /** Bytes that the living ones held when they were last seen. */
  readonly #renderers = new Map<number, number>();
  /** Processes that are not renderers of the group and never will be. */
  readonly #others = new Set<number>();
  #ended: { bytes: number; at: number }[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(groupId: number, bytesMax: number) {
    this.#groupId = groupId;
    this.#bytesMax = bytesMax;
  }

  /** A browser has renderers only while it has contexts. */
  start(): void {
    this.#timer ??= setInterval(() => this.#sample(), SAMPLE_MS).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** Whether a renderer has just ended that, when last seen, used at least half of its limit. */
  endedForMemory(): boolean {
    this.#sample();
    return this.#ended.some(({ bytes }) => bytes >= this.#bytesMax / 2);
  }

  #sample(): void {
    const now = performance.now();
    this.#ended = this.#ended.filter(({ at }) => now - at < REMEMBERED_MS);
    const pids = new Set(processIds().map(Number));
    for (const pid of this.#others) if (!pids.has(pid)) this.#others.delete(pid);
    for (const pid of this.#renderers.keys()) if (!pids.has(pid)) this.#hasEnded(pid, now);
    for (const pid of pids) if (!this.#others.has(pid)) this.#measure(pid, now);
  }

  #measure(pid: number, now: number): void {
    if (!this.#renderers.has(pid) && !this.#isRenderer(pid)) return;
    const bytes = residentBytes(pid);
    if (bytes === 0) {
      // It has ended, and is there until it is collected.
      this.#others.add(pid);
      this.#hasEnded(pid, now);
      return;
    }
    this.#renderers.set(pid, bytes);
    if (bytes > this.#bytesMax && groupOf(pid) === this.#groupId) end(pid);
  }

  #isRenderer(pid: number): boolean {
    const groupId = groupOf(pid);
    if (groupId === null) return false;
    const type = groupId === this.#groupId ? processType(pid) : '';
    // Renderers are copies of a zygote, and are called one at first.
    if (type !== 'renderer' && type !== 'zygote') this.#others.add(pid);
    return type === 'renderer';
  }

  #hasEnded(pid: number, now: number): void {
    const bytes = this.#renderers.get(pid);
    if (bytes !== undefined) this.#ended.push({ bytes, at: now });
    this.#renderers.delete(pid);
  }
}

function end(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It ended by itself.
  }
}
