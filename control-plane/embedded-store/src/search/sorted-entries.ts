import type { EntryPosition, IndexTable } from '../indexes/index-table.ts';
import type { KeyRange } from '../indexes/key-range.ts';

/**
 * The entries of an index with the same values in its first fields: after these `prefixLength` bytes, their keys are in
 * the requested order.
 */
export type Part = { index: IndexTable; prefix: Uint8Array; ranges: KeyRange[] };

/** An entry: its key without the prefix of its part, and the row of its document. */
type Head = { suffix: Uint8Array; row: number };

const ENTRIES_AT_FIRST = 16;
const ENTRIES_AT_ONCE = 512;
/** An index may contain long texts: fewer of its entries are read at once. */
const BYTES_AT_ONCE = 256 * 1024;
const SKIPPED_AT_ONCE = 2_000;
/** After so many steps a search may pause. */
const STEPS = 64;
/** The first entries of a part that were not read lately come from the disk. */
const PARTS_BEGUN_AT_ONCE = 8;
const PAUSE = null;

/** Reads the entries of a part in order, and skips those before a position without reading them. */
class PartReader {
  readonly #part: Part;
  readonly #reverse: boolean;
  /** The ranges that are not read completely, in the order of reading. */
  #ranges: KeyRange[];
  #read: EntryPosition[] = [];
  #at = 0;
  #count = ENTRIES_AT_FIRST;
  head: Head | null = null;

  constructor(part: Part, reverse: boolean) {
    this.#part = part;
    this.#reverse = reverse;
    this.#ranges = reverse ? part.ranges.toReversed() : [...part.ranges];
    this.#readAfter(undefined);
  }

  next(): void {
    this.#at += 1;
    if (this.#at < this.#read.length) this.#setHead();
    else this.#readAfter(this.#read.at(-1));
  }

  /** Goes on at the first entry that is not before this one. */
  seek(wanted: Head): void {
    const last = this.#read.at(-1);
    if (last && compareHeads(this.#headOf(last), wanted) * this.#way >= 0) {
      let [from, to] = [this.#at, this.#read.length - 1];
      while (from < to) {
        const middle = (from + to) >> 1;
        if (compareHeads(this.#headOf(this.#read[middle]!), wanted) * this.#way < 0) from = middle + 1;
        else to = middle;
      }
      this.#at = from;
      this.#setHead();
      return;
    }
    // Entries were read in vain where most of the last ones were passed over.
    if (this.#at < this.#read.length / 2) this.#count = Math.max(ENTRIES_AT_FIRST, this.#count >> 2);
    const key = Buffer.concat([this.#part.prefix, wanted.suffix]);
    this.#readAfter({ key, row: wanted.row - this.#way });
  }

  /** Passes over so many entries, counted from the first; returns how many there were. Pauses in between. */
  *skip(count: number): Generator<typeof PAUSE, number> {
    if (count === 0 || !this.head) return 0;
    const own = Math.min(count, this.#read.length - this.#at);
    let [skipped, last] = [own, this.#read[this.#at + own - 1]];
    let step = SKIPPED_AT_ONCE;
    while (skipped < count && this.#ranges[0]) {
      step = Math.min(step, count - skipped);
      const [found] = this.#part.index.entries(this.#ranges[0], this.#reverse, last, 1, step - 1);
      if (found) [skipped, last] = [skipped + step, found];
      else if (step > 1) step >>= 1;
      else {
        this.#ranges.shift();
        [step, last] = [SKIPPED_AT_ONCE, undefined];
      }
      yield PAUSE;
    }
    this.#readAfter(last);
    return skipped;
  }

  get #way(): 1 | -1 {
    return this.#reverse ? -1 : 1;
  }

  #headOf({ key, row }: EntryPosition): Head {
    return { suffix: key.subarray(this.#part.prefix.length), row };
  }

  #setHead(): void {
    const entry = this.#read[this.#at];
    this.head = entry ? this.#headOf(entry) : null;
  }

  #readAfter(after: EntryPosition | undefined): void {
    this.#at = 0;
    for (let position = after; this.#ranges[0]; this.#ranges.shift()) {
      if (position && this.#isBefore(position, this.#ranges[0])) position = undefined;
      this.#read = this.#part.index.entries(this.#ranges[0], this.#reverse, position, this.#count);
      if (this.#read.length > 0) break;
    }
    if (!this.#ranges[0]) this.#read = [];
    const bytes = this.#read.reduce((sum, { key }) => sum + key.length, 0);
    const most = Math.max(1, Math.floor((BYTES_AT_ONCE * this.#read.length) / Math.max(1, bytes)));
    this.#count = Math.min(this.#count * 2, ENTRIES_AT_ONCE, most);
    this.#setHead();
  }

  /** Whether a position is before a range, in the order of reading. */
  #isBefore({ key }: EntryPosition, { from, to }: KeyRange): boolean {
    return this.#reverse ? Buffer.compare(key, to) >= 0 : Buffer.compare(key, from) < 0;
  }
}

const compareHeads = (one: Head, other: Head): number =>
  Buffer.compare(one.suffix, other.suffix) || one.row - other.row;

/**
 * The entries of several parts in one order; a document that is in several of them comes once. A binary heap, the first
 * entry at its top.
 */
class UnionReader {
  readonly #way: 1 | -1;
  readonly #heap: PartReader[] = [];

  constructor(reverse: boolean) {
    this.#way = reverse ? -1 : 1;
  }

  /** Reads the first entries of each part. Pauses in between: a part may be one of thousands of values. */
  *begin(parts: Part[]): Generator<typeof PAUSE> {
    for (const [at, part] of parts.entries()) {
      if (at % PARTS_BEGUN_AT_ONCE === PARTS_BEGUN_AT_ONCE - 1) yield PAUSE;
      const reader = new PartReader(part, this.#way === -1);
      if (!reader.head) continue;
      this.#heap.push(reader);
      this.#moveUp(this.#heap.length - 1);
    }
  }

  get head(): Head | null {
    return this.#heap[0]?.head ?? null;
  }

  /** The number of parts that are not read completely. */
  get parts(): number {
    return this.#heap.length;
  }

  /** The reader of the only part; null: there are several. */
  get single(): PartReader | null {
    return this.#heap.length === 1 ? this.#heap[0]! : null;
  }

  /** Goes on after the document of the first entry. */
  next(): void {
    const { head } = this;
    while (head && this.head && compareHeads(this.head, head) === 0) {
      this.#heap[0]!.next();
      this.#settleTop();
    }
  }

  seek(wanted: Head): void {
    while (this.head && compareHeads(this.head, wanted) * this.#way < 0) {
      this.#heap[0]!.seek(wanted);
      this.#settleTop();
    }
  }

  /** Puts the reader at the top in its place, or removes it if it has no more entries. */
  #settleTop(): void {
    if (!this.#heap[0]!.head) {
      const last = this.#heap.pop()!;
      if (this.#heap.length === 0) return;
      this.#heap[0] = last;
    }
    this.#moveDown();
  }

  #moveUp(from: number): void {
    for (let at = from; at > 0; ) {
      const parent = (at - 1) >> 1;
      if (!this.#isBefore(at, parent)) return;
      this.#swap(at, parent);
      at = parent;
    }
  }

  #moveDown(): void {
    for (let at = 0; ; ) {
      let first = at;
      for (const child of [2 * at + 1, 2 * at + 2])
        if (child < this.#heap.length && this.#isBefore(child, first)) first = child;
      if (first === at) return;
      this.#swap(at, first);
      at = first;
    }
  }

  #isBefore(one: number, other: number): boolean {
    return compareHeads(this.#heap[one]!.head!, this.#heap[other]!.head!) * this.#way < 0;
  }

  #swap(one: number, other: number): void {
    [this.#heap[one], this.#heap[other]] = [this.#heap[other]!, this.#heap[one]!];
  }
}

/**
 * The rows of the documents that have an entry in some part of each list, in the order of their keys, each once. Reads
 * only entries, and of a list only those near an entry of the others. Passes over the first `skip`. Pauses in between.
 */
export function* joinedRows(lists: Part[][], reverse: boolean, skip: number): Generator<number | typeof PAUSE> {
  const way = reverse ? -1 : 1;
  const readers = lists.map(() => new UnionReader(reverse));
  for (const [at, reader] of readers.entries()) yield* reader.begin(lists[at]!);
  const alone = readers.length === 1 ? readers[0]!.single : null;
  let passed = alone ? yield* alone.skip(skip) : 0;
  const between = readers.some(({ parts }) => parts > STEPS) ? 1 : STEPS;
  for (let step = 1; ; step += 1) {
    if (step % between === 0) yield PAUSE;
    let furthest = readers[0]!.head;
    for (const { head } of readers) {
      if (!head || !furthest) return;
      if (compareHeads(head, furthest) * way > 0) furthest = head;
    }
    if (!furthest) return;
    const behind = readers.filter(({ head }) => head && compareHeads(head, furthest) !== 0);
    for (const reader of behind) reader.seek(furthest);
    if (behind.length > 0) continue;
    passed += 1;
    if (passed > skip) yield furthest.row;
    for (const reader of readers) reader.next();
  }
}
