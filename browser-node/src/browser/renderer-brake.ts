import { type ProcFiles, type Thread, threadNamed } from './proc-files.ts';
import { signal } from './processes.ts';
import { sumOf } from './renderer-memory.ts';

/** A thread that serves all renderers counts as congested from this share of a CPU of its own on. */
const CONGESTED_SHARE = 0.5;
/** So many ticks in a row: pages that load congest it for a moment. */
const CONGESTED_TICKS = 3;
/** The longest that a renderer stays stopped, in ticks: it has to answer our commands too. */
const STOPPED_TICKS_MAX = 4;
/** A congestion that went on for so many of the last ms while its cause was stopped is one that the brake cannot end. */
const [FLOODED_MS, FLOODED_OF_MS] = [800, 2_000];
/** How much of the CPU time of earlier ticks counts at each further tick. */
const MEMORY = 0.9;
/** Renderers that used at least this share of what the busiest one used are stopped with it. */
const SHARE_OF_BUSIEST = 0.7;
/** Seconds of recent CPU time below which a renderer is never stopped: a page that loads uses that much. */
const RECENT_AT_LEAST = 0.1;

/** The CPU time of a thread so far, and the time that it waited for a CPU, in ms. */
export type ThreadSchedule = { ranMs: number; waitedMs: number };

/**
 * The share of `ms`, 0 to 1, that a thread would have been busy on a CPU of its own, however busy the machine is. Pure.
 */
export function ownCpuShare(since: ThreadSchedule, until: ThreadSchedule, ms: number): number {
  const ran = Math.max(0, until.ranMs - since.ranMs);
  const couldRun = Math.max(ran, ms - (until.waitedMs - since.waitedMs));
  return couldRun > 0 ? Math.min(1, ran / couldRun) : 0;
}

/**
 * The renderers that cause a congestion: those with the most recent CPU time (seconds by process id). None where the
 * others together use more: many renderers that start at once. Pure.
 */
export function busiest(recentCpu: ReadonlyMap<number, number>): number[] {
  const least = Math.max(RECENT_AT_LEAST, Math.max(0, ...recentCpu.values()) * SHARE_OF_BUSIEST);
  const most = [...recentCpu].filter(([, cpu]) => cpu >= least);
  const isTheirs = sumOf(most.map(([, cpu]) => cpu)) * 2 >= sumOf([...recentCpu.values()]);
  return isTheirs ? most.map(([pid]) => pid) : [];
}

/** How many ticks in a row the shared threads were congested, and for how many the brake is on; 0: it is off. */
export type BrakeState = { congestedTicks: number; stoppedTicks: number };
export const RELEASED: BrakeState = { congestedTicks: 0, stoppedTicks: 0 };

/** The state after a tick. After a stop, renderers run for one tick. Pure. */
export function nextBrake(state: BrakeState, isCongested: boolean): BrakeState {
  const congestedTicks = isCongested ? state.congestedTicks + 1 : 0;
  const isOn = congestedTicks >= CONGESTED_TICKS && state.stoppedTicks < STOPPED_TICKS_MAX;
  return { congestedTicks, stoppedTicks: isOn ? state.stoppedTicks + 1 : 0 };
}

/** Longer than any capture takes. */
const REMEMBERED_MS = 150_000;

/**
 * Slows down renderers that ask more of a Chromium than its browser process and its network service can do: all pages
 * share these two, and wait behind the requests and messages of the one that floods them. As long as one of their
 * threads has no time left, the busiest renderers are stopped (SIGSTOP), but for one tick of each few. Does nothing on
 * a system without schedstat.
 */
export class RendererBrake {
  readonly #groupId: number;
  #network: Thread | null = null;
  #threads: Thread[] = [];
  #schedules = new Map<number, ThreadSchedule>();
  readonly #cpuSecondsOf: (pid: number) => number;
  readonly #files: Pick<ProcFiles, 'read'>;
  #cpu = new Map<number, number>();
  #recent = new Map<number, number>();
  #state = RELEASED;
  #stopped = new Set<number>();
  #at = performance.now();
  #floodedAt = 0;
  /**
   * The congested ticks of the last minutes: when each ended, by `performance.now()`, how long it was, and whether it was
   * congested although renderers were stopped.
   */
  #congested: { at: number; ms: number; isFlood: boolean }[] = [];

  /** `cpuSecondsOf`: the CPU time of a process so far. */
  constructor(groupId: number, cpuSecondsOf: (pid: number) => number, files: Pick<ProcFiles, 'read'>) {
    this.#groupId = groupId;
    this.#cpuSecondsOf = cpuSecondsOf;
    this.#files = files;
  }

  /** To be called at each tick, with the process ids of the renderers and of the network service (null: not known). */
  tick(renderers: readonly number[], networkPid: number | null): void {
    const now = performance.now();
    const ms = now - this.#at;
    const isCongested = this.#isCongested(ms, networkPid);
    this.#at = now;
    const isStopped = this.#stopped.size > 0;
    if (isCongested || isStopped) this.#remember({ at: now, ms, isFlood: isCongested && isStopped });
    this.#measure(renderers);
    this.#state = nextBrake(this.#state, isCongested);
    if (this.#state.stoppedTicks === 0) this.release();
    else if (this.#stopped.size === 0) for (const pid of busiest(this.#recent)) this.#stop(pid);
  }

  /**
   * The renderers that keep the shared threads congested although they are stopped again and again, once for each such
   * time.
   */
  takeFlooders(): number[] {
    const since = Math.max(this.#at - FLOODED_OF_MS, this.#floodedAt);
    const floods = this.#congested.filter(({ at, isFlood }) => isFlood && at > since);
    if (this.#stopped.size === 0 || sumOf(floods.map(({ ms }) => ms)) < FLOODED_MS) return [];
    this.#floodedAt = this.#at;
    return [...this.#stopped];
  }

  /** Lets all renderers run again. */
  release(): void {
    for (const pid of this.#stopped) signal(pid, 'SIGCONT');
    this.#stopped.clear();
  }

  /**
   * For how many ms a thread that serves all renderers was congested, or renderers were stopped, since `at`
   * (`performance.now()`), over the last minutes.
   */
  congestedMs(at: number): number {
    return this.#congested.reduce((sum, tick) => sum + (tick.at > at ? tick.ms : 0), 0);
  }

  #remember(tick: { at: number; ms: number; isFlood: boolean }): void {
    this.#congested = [...this.#congested.filter(({ at }) => at > tick.at - REMEMBERED_MS), tick];
  }

  #stop(pid: number): void {
    signal(pid, 'SIGSTOP');
    this.#stopped.add(pid);
  }

  /** A renderer that is stopped keeps what it used before. */
  #measure(renderers: readonly number[]): void {
    const [cpu, recent] = [new Map<number, number>(), new Map<number, number>()];
    for (const pid of renderers) {
      const seconds = this.#cpuSecondsOf(pid);
      const used = seconds - (this.#cpu.get(pid) ?? seconds);
      cpu.set(pid, seconds);
      recent.set(pid, (this.#recent.get(pid) ?? 0) * (this.#stopped.has(pid) ? 1 : MEMORY) + used);
    }
    this.#cpu = cpu;
    this.#recent = recent;
  }

  #isCongested(ms: number, networkPid: number | null): boolean {
    if (networkPid !== null && this.#network?.pid !== networkPid) this.#findThreads(networkPid);
    let share = 0;
    for (const { pid, tid } of this.#threads) {
      const until = scheduleIn(this.#files.read(pid, `task/${tid}/schedstat`));
      const since = this.#schedules.get(tid);
      if (until) this.#schedules.set(tid, until);
      if (since && until) share = Math.max(share, ownCpuShare(since, until, ms));
    }
    return share >= CONGESTED_SHARE;
  }

  /** The browser's main thread and those that receive the messages of all renderers. */
  #findThreads(networkPid: number): void {
    this.#network = threadNamed(networkPid, 'Chrome_ChildIOT');
    const main = { pid: this.#groupId, tid: this.#groupId };
    const threads = [main, threadNamed(this.#groupId, 'Chrome_IOThread'), this.#network];
    this.#threads = threads.filter((one) => one !== null);
  }
}

/**
 * From schedstat (Documentation/scheduler/sched-stats of Linux): both times in ns come first. null: the thread has
 * ended. Pure.
 */
function scheduleIn(schedstat: string): ThreadSchedule | null {
  if (schedstat === '') return null;
  const [ran = 0, waited = 0] = schedstat.split(' ').map(Number);
  return { ranMs: ran / 1e6, waitedMs: waited / 1e6 };
}
