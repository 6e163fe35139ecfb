/**
 * At most `max` things in the order in which they came. When it is full, the group that has most gives up its newest for a thing of a
 * smaller group: whoever floods it crowds out only himself.
 */
export class FairList<T> {
  #max: number;
  readonly #groups = new Map<string, T[]>();
  readonly #all = new Set<T>();
  #largest: T[] = [];

  constructor(max: number) {
    this.#max = max;
  }

  /** What had to be left out, which may be `thing` itself; null = nothing. Each thing can be added once. */
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

  /** From now on at most `max`; how many had to be left out. */
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
