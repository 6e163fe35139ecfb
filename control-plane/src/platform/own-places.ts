type Places = { taken: number; waiting: Set<() => void> };

/**
 * Lets each owner, such as an organization, have so many tasks under way at once. Further ones wait for those of the same owner alone, in their
 * order; no other owner waits for them.
 */
export class OwnPlaces {
  readonly #each: number;
  /** Of the owners that have tasks under way. */
  readonly #owners = new Map<string, Places>();

  constructor(each: number) {
    this.#each = each;
  }

  async run<T>(owner: string, work: () => Promise<T>): Promise<T> {
    const own = this.#owners.get(owner) ?? { taken: 0, waiting: new Set() };
    this.#owners.set(owner, own);
    if (own.taken < this.#each) own.taken += 1;
    else await new Promise<void>((resolve) => own.waiting.add(resolve));
    try {
      return await work();
    } finally {
      this.#leave(owner, own);
    }
  }

  /** Hands the place to the next task of the owner. */
  #leave(owner: string, own: Places): void {
    const [next] = own.waiting;
    if (next) {
      own.waiting.delete(next);
      next();
    } else own.taken -= 1;
    if (own.taken === 0) this.#owners.delete(owner);
  }
}
