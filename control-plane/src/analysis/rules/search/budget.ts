/** Returns the CPU time of a thread in ms. */
export type CpuClock = () => number;

/** The CPU time of this thread, which the load of other processes does not change. */
export const threadCpu: CpuClock = () => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
};

/** The CPU time that the rules of one scan may use together, in ms (spec 8). */
export class Budget {
  readonly #clock: CpuClock;
  readonly #end: number;

  constructor(ms: number, clock: CpuClock = threadCpu) {
    this.#clock = clock;
    this.#end = clock() + ms;
  }

  get isSpent(): boolean {
    return this.#clock() >= this.#end;
  }

  now(): number {
    return this.#clock();
  }
}
