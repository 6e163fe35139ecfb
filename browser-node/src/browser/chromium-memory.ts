import { readdirSync, readFileSync } from 'node:fs';
import { totalmem } from 'node:os';

const SAMPLE_MS = 500;
/** How long a renderer that ended is kept in the list. */
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
  /** Bytes of each running renderer at the last sample. */
  readonly #renderers = new Map<number, number>();
  /** Processes that are not renderers of the group and never will be. */
  readonly #others = new Set<number>();
  #ended: { bytes: number; at: number }[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(groupId: number, bytesMax: number) {
    this.#groupId = groupId;
    this.#bytesMax = bytesMax;
  }

  /** Starts to sample; a browser has renderers only while it has contexts. */
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
      // A zombie: it has ended and was not reaped yet.
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
    // Renderers are forked from a zygote and have its command line at first.
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
    // It has ended meanwhile.
  }
}

const PAGE_BYTES = 4096;

/** Process ids of this machine; none where the system has no /proc. */
function processIds(): string[] {
  try {
    return readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  } catch {
    return [];
  }
}

/**
 * Bytes of memory of a process group's long-lived processes: all but Chromium's renderers, which start and end with their pages. null
 * where the system has no /proc.
 */
export function longLivedMemory(groupId: number): number | null {
  const pids = processIds();
  if (pids.length === 0) return null;
  const longLived = pids.filter((pid) => groupOf(pid) === groupId && processType(pid) !== 'renderer');
  return longLived.reduce((sum, pid) => sum + residentBytes(pid), 0);
}

/** The process group of a process; null = it has ended. */
function groupOf(pid: number | string): number | null {
  const stat = readProc(pid, 'stat');
  // After the name in parentheses: state, parent, group (proc_pid_stat(5)).
  return stat === '' ? null : Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[2]);
}

/** Bytes of memory that a process holds, 0 once it has ended: the second field of proc_pid_statm(5), which is cheaper to read than stat. */
const residentBytes = (pid: number | string): number => Number(readProc(pid, 'statm').split(' ')[1] ?? 0) * PAGE_BYTES;

/** The type of a Chromium process: `renderer`, `zygote`, `utility`...; '' = it is the browser process, or has ended. */
const processType = (pid: number | string): string => /--type=([a-z-]+)/.exec(readProc(pid, 'cmdline'))?.[1] ?? '';

/** '' once the process has ended. Synchronous: /proc never waits for a disk, and the thread pool would cost three times as much CPU. */
function readProc(pid: number | string, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1');
  } catch {
    return '';
  }
}
