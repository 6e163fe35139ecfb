import { totalmem } from 'node:os';
import { isRenderer, processIds, readProcess } from './group-memory.ts';

const SAMPLE_MS = 500;
/** How long a renderer that ended is remembered. */
const REMEMBERED_MS = 30_000;

/** The most memory in bytes that one renderer may hold: what is left must be enough for the browser and its other pages. */
export const RENDERER_BYTES_MAX = Math.min(2 ** 31, (process.constrainedMemory() || totalmem()) * 0.5);

type Renderer = { bytes: number; seenAt: number };

/**
 * Watches the memory of the renderers in a Chromium's process group, and ends one that takes too much. Where the system has no /proc it
 * sees nothing.
 */
export class RendererMemory {
  readonly #groupId: number;
  readonly #bytesMax: number;
  readonly #renderers = new Map<number, Renderer>();
  /** Processes that are no renderers of the group. */
  readonly #others = new Set<number>();
  readonly #timer: NodeJS.Timeout;

  constructor(groupId: number, bytesMax: number) {
    this.#groupId = groupId;
    this.#bytesMax = bytesMax;
    this.#timer = setInterval(() => this.#sample(), SAMPLE_MS).unref();
  }

  /** Whether a renderer ended just now that held, when it was last seen, at least half of what it may. */
  endedForMemory(): boolean {
    const now = performance.now();
    this.#sample();
    // One that has ended and was not collected yet is not seen any more either.
    return [...this.#renderers.values()].some(({ bytes, seenAt }) => {
      return seenAt < now && now - seenAt < REMEMBERED_MS && bytes >= this.#bytesMax / 2;
    });
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #sample(): void {
    const pids = new Set(processIds().map(Number));
    for (const pid of this.#others) if (!pids.has(pid)) this.#others.delete(pid);
    for (const [pid, { seenAt }] of this.#renderers)
      if (!pids.has(pid) && performance.now() - seenAt > REMEMBERED_MS) this.#renderers.delete(pid);
    for (const pid of pids) if (!this.#others.has(pid)) this.#measure(pid);
  }

  #measure(pid: number): void {
    const process = readProcess(String(pid));
    if (!process) return;
    if (process.groupId !== this.#groupId) return void this.#others.add(pid);
    if (!this.#renderers.has(pid) && !isRenderer(String(pid))) return;
    // What has ended and was not collected yet holds nothing any more.
    if (process.bytes === 0) return;
    this.#renderers.set(pid, { bytes: process.bytes, seenAt: performance.now() });
    if (process.bytes > this.#bytesMax) end(pid);
  }
}

function end(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It ended by itself.
  }
}
