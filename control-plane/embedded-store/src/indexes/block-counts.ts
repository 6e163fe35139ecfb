import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { type KeyRange, successor } from './key-range.ts';

type RawBlock = { k: Uint8Array; n: number };

/** More entries than this become several blocks, so that counting walks few at each end of a range. */
const BLOCK_MAX = 256;
/** A block of the second level has the entries of so many blocks, so that few numbers are added up. */
const BLOCKS_MAX = 64;

/**
 * The numbers of entries in blocks of an index, so that those in a range are counted without walking them: a block begins at its key and ends
 * where the next one of its level and prefix does. A prefix has blocks of a level only while it has more entries than one block. Blocks are
 * updated in the transactions that change the index; those of an index that was filled by an earlier version are made by later writes.
 */
export class BlockCounts {
  readonly #table: string;
  /** The most entries of a block by level. */
  readonly #sizes: number[];
  readonly #blocksMax: number;
  #change: StatementSync;
  #set: StatementSync;
  #remove: StatementSync;
  #removeAll: StatementSync;
  #first: StatementSync;
  #last: StatementSync;
  #sum: StatementSync;
  #blockAfter: StatementSync;
  #entryAfter: StatementSync;
  #entries: StatementSync;

  /** `entries`: the table of the index. */
  constructor(db: DatabaseSync, indexId: number, entries: string, blockMax = BLOCK_MAX, blocksMax = BLOCKS_MAX) {
    this.#table = `blocks_${indexId}`;
    this.#sizes = [blockMax, blockMax * blocksMax];
    this.#blocksMax = blocksMax;
    const table = this.#table;
    db.exec(
      `CREATE TABLE IF NOT EXISTS ${table} (l INTEGER, k BLOB, n INTEGER NOT NULL, PRIMARY KEY (l, k)) WITHOUT ROWID`,
    );
    const range = 'l = ? AND k >= ? AND k < ?';
    this.#change = db.prepare(
      `UPDATE ${table} SET n = n + ? WHERE l = ? AND k = (SELECT k FROM ${table} WHERE l = ? AND k > ? AND k <= ? ORDER BY k DESC LIMIT 1) RETURNING k, n`,
    );
    this.#set = db.prepare(
      `INSERT INTO ${table} (l, k, n) VALUES (?, ?, ?) ON CONFLICT (l, k) DO UPDATE SET n = excluded.n`,
    );
    this.#remove = db.prepare(`DELETE FROM ${table} WHERE l = ? AND k = ?`);
    this.#removeAll = db.prepare(`DELETE FROM ${table} WHERE ${range}`);
    this.#first = db.prepare(`SELECT k FROM ${table} WHERE ${range} ORDER BY k LIMIT 1`);
    this.#last = db.prepare(`SELECT k FROM ${table} WHERE ${range} ORDER BY k DESC LIMIT 1`);
    this.#sum = db.prepare(`SELECT sum(n) AS n FROM ${table} WHERE ${range}`);
    this.#blockAfter = db.prepare(`SELECT k FROM ${table} WHERE ${range} ORDER BY k LIMIT 1 OFFSET ?`);
    this.#entryAfter = db.prepare(`SELECT k FROM ${entries} WHERE k >= ? AND k < ? ORDER BY k LIMIT 1 OFFSET ?`);
    this.#entries = db.prepare(`SELECT count(*) AS n FROM ${entries} WHERE k >= ? AND k < ?`);
  }

  /** To be called after an entry was added (1) or removed (-1); `total`: how many its prefix has now. */
  changed(key: Uint8Array, prefix: Uint8Array, by: 1 | -1, total: number): void {
    for (const [at, size] of this.#sizes.entries()) {
      const level = at + 1;
      if (total <= size >> 1) {
        if (by < 0 && total === size >> 1) this.#removeAll.run(level, prefix, successor(prefix));
        continue;
      }
      const block = this.#change.get(by, level, level, prefix, key) as RawBlock | undefined;
      if (block && block.n > size) this.#cut(level, block, successor(prefix));
      else if (block?.n === 0 && block.k.length > prefix.length + 1) this.#remove.run(level, block.k);
      else if (!block && total > size) this.#begin(level, prefix, total);
    }
  }

  /** The number of entries in the blocks that lie within a range of one prefix, and the ranges beside them. */
  within({ from, to }: KeyRange, level = this.#sizes.length): { count: number; rest: KeyRange[] } {
    if (level === 0) return { count: 0, rest: [{ from, to }] };
    const first = this.#first.get(level, from, to)?.k as Uint8Array | undefined;
    const last = this.#last.get(level, from, to)?.k as Uint8Array | undefined;
    if (!first || !last || Buffer.compare(first, last) === 0) return this.within({ from, to }, level - 1);
    const [before, after] = [this.within({ from, to: first }, level - 1), this.within({ from: last, to }, level - 1)];
    const count = Number(this.#sum.get(level, first, last)?.n) + before.count + after.count;
    return { count, rest: [...before.rest, ...after.rest] };
  }

  drop(db: DatabaseSync): void {
    db.exec(`DROP TABLE ${this.#table}`);
  }

  /** The first block of a prefix begins below all of its keys. */
  #begin(level: number, prefix: Uint8Array, total: number): void {
    const k = Buffer.concat([prefix, Buffer.of(0)]);
    this.#set.run(level, k, total);
    this.#cut(level, { k, n: total }, successor(prefix));
  }

  /** Cuts a block that has become too large into smaller ones. Entries with the same key are never parted. */
  #cut(level: number, { k, n }: RawBlock, endOfPrefix: Uint8Array): void {
    const next = this.#first.get(level, Buffer.concat([k, Buffer.of(0)]), endOfPrefix)?.k as Uint8Array | undefined;
    const to = next ?? endOfPrefix;
    for (let [from, left] = [k, n]; left > this.#sizes[level - 1]!; ) {
      const found =
        level === 1
          ? this.#entryAfter.get(from, to, this.#sizes[0]! >> 1)
          : this.#blockAfter.get(level - 1, from, to, this.#blocksMax >> 1);
      const middle = found?.k as Uint8Array | undefined;
      if (!middle || Buffer.compare(middle, from) === 0) return;
      const here = this.#count({ from, to: middle }, level - 1);
      this.#set.run(level, from, here);
      left -= here;
      from = middle;
      this.#set.run(level, from, left);
    }
  }

  #count(range: KeyRange, level: number): number {
    const { count, rest } = this.within(range, level);
    return rest.reduce((total, { from, to }) => total + Number(this.#entries.get(from, to)?.n), count);
  }
}
