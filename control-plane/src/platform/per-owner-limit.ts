type Tasks = { running: number; waiting: Set<() => void> };

/**
 * Limits how many tasks of each owner, such as an organization, run at once. Further ones wait, in their order, for
 * those of the same owner alone.
 */
export class PerOwnerLimit {
  readonly #each: number;
  /** The owners of running tasks. */
  readonly #owners = new Map<string, Tasks>();

  constructor(each: number) {
    this.#each = each;
  }

  async run<T>(owner: string, work: () => Promise<T>): Promise<T> {
    const own = this.#owners.get(owner) ?? { running: 0, waiting: new Set() };
    this.#owners.set(owner, own);
    if (own.running < this.#each) own.running += 1;
    else await new Promise<void>((resolve) => own.waiting.add(resolve));
    try {
      return await work();
    } finally {
      this.#startNext(owner, own);
    }
  }

  /** Starts the next task of the owner. */
  #startNext(owner: string, own: Tasks): void {
    const [next] = own.waiting;
    if (next) {
      own.waiting.delete(next);
      next();
    } else own.running -= 1;
    if (own.running === 0) this.#owners.delete(owner);
  }
}
