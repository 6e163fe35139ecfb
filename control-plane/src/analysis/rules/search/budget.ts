/** The CPU time of this thread in ms, which the load of other processes does not change. */
export function threadCpu(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/** The CPU time that the rules of one scan may use together, in ms (spec 8). */
export class Budget {
  readonly #end: number;

  constructor(ms: number) {
    this.#end = threadCpu() + ms;
  }

  get isSpent(): boolean {
    return threadCpu() >= this.#end;
  }

  now(): number {
    return threadCpu();
  }
}
