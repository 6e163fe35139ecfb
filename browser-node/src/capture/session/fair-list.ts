/**
 * A list of at most `max` items in order of arrival. When it is full, an item of a smaller group replaces the newest
 * item of the largest group, so that a flood displaces only items of its own group.
 */
export class FairList<T> {
  #max: number;
  readonly #groups = new Map<string, T[]>();
  readonly #all = new Set<T>();
  #largest: T[] = [];

  constructor(max: number) {
    this.#max = max;
  }

  /**
   * Adds an item; returns the one that was dropped for it, which may be `thing` itself, or null. Each item can be added
   * once.
   */
  add(thing: T, group: string): T | null {
    const own = this.#groups.get(group) ?? [];
    const out = this.#all.size < this.#max ? null : this.#makeRoom(own.length + 1, thing);
    if (out === thing) return thing;
    this.#groups.set(group, own);
    own.push(thing);
    this.#all.add(thing);
    if (own.length > this.#largest.length) this.#largest = own;
    return out;
  }

  /** Lowers the limit to `max`; returns how many items were dropped. */
  limitTo(max: number): number {
    this.#max = max;
    let out = 0;
    for (; this.#all.size > max; out += 1) this.#removeNewestOfLargest();
    return out;
  }

  get size(): number {
    return this.#all.size;
  }

  *[Symbol.iterator](): Iterator<T> {
    yield* this.#all;
  }

  #makeRoom(ownSize: number, thing: T): T {
    return this.#largest.length <= ownSize ? thing : this.#removeNewestOfLargest();
  }

  #removeNewestOfLargest(): T {
    const out = this.#largest.pop() as T;
    this.#all.delete(out);
    for (const group of this.#groups.values()) if (group.length > this.#largest.length) this.#largest = group;
    return out;
  }
}
