/** Milliseconds of CPU that a thread has used. */
export type CpuClock = () => number;

/** This thread's own clock, which load of other processes does not affect. */
export const threadCpu: CpuClock = () => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
};

/** What the rules of one scan may cost together (spec 8). */
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
