import type { DatabaseSync } from 'node:sqlite';
import { Statement } from '../statement.ts';
import { type KeyRange, successor } from './key-range.ts';

type RawBlock = { k: Uint8Array; n: number };
/** The first and the last block of both levels in a range, the last of the first level before the second one's, and the first after them. */
type Edges = Record<'first' | 'last' | 'head' | 'tail' | 'before' | 'after', Uint8Array | null>;
/** Keys in their order: the start of a range, where the counts of the blocks of a level begin or end, and its end. */
type Points = [Uint8Array, Uint8Array, Uint8Array, Uint8Array, Uint8Array, Uint8Array, Uint8Array, Uint8Array];

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
  readonly #sizes: [number, number];
  readonly #blocksMax: number;
  /** The block of the last update, if it is empty or too large. */
  #unfit: RawBlock | null = null;
  #change: Statement;
  #set: Statement;
  #remove: Statement;
  #removeAll: Statement;
  #first: Statement;
  #edges: Statement;
  #add: Statement;
  #entries: Statement;
  #blockAfter: Statement;
  #entryAfter: Statement;

  /** `entries`: the table of the index. */
  constructor(db: DatabaseSync, indexId: number, entries: string, blockMax = BLOCK_MAX, blocksMax = BLOCKS_MAX) {
    this.#table = `blocks_${indexId}`;
    this.#sizes = [blockMax, blockMax * blocksMax];
    this.#blocksMax = blocksMax;
    const table = this.#table;
    db.exec(
      `CREATE TABLE IF NOT EXISTS ${table} (l INTEGER, k BLOB, n INTEGER NOT NULL, PRIMARY KEY (l, k)) WITHOUT ROWID`,
    );
    this.#noteUnfit(db);
    const range = 'l = ? AND k >= ? AND k < ?';
    this.#change = new Statement(
      db,
      `UPDATE ${table} SET n = n + ? WHERE l = ? AND k = (SELECT k FROM ${table} WHERE l = ? AND k > ? AND k <= ? ORDER BY k DESC LIMIT 1)`,
    );
    this.#set = new Statement(
      db,
      `INSERT INTO ${table} (l, k, n) VALUES (?, ?, ?) ON CONFLICT (l, k) DO UPDATE SET n = excluded.n`,
    );
    this.#remove = new Statement(db, `DELETE FROM ${table} WHERE l = ? AND k = ?`);
    this.#removeAll = new Statement(db, `DELETE FROM ${table} WHERE ${range}`);
    this.#first = new Statement(db, `SELECT k FROM ${table} WHERE ${range} ORDER BY k LIMIT 1`);
    const block = (level: number, where: string, order: 'ASC' | 'DESC') =>
      `(SELECT k FROM ${table} WHERE l = ${level} AND ${where} ORDER BY k ${order} LIMIT 1)`;
    const within = 'k >= ?1 AND k < ?2';
    this.#edges = new Statement(
      db,
      `
      SELECT e.*, ${block(1, 'k >= ?1 AND k <= e.head', 'DESC')} AS before, ${block(1, 'k >= e.tail AND k < ?2', 'ASC')} AS after
      FROM (SELECT ${block(1, within, 'ASC')} AS first, ${block(1, within, 'DESC')} AS last,
        ${block(2, within, 'ASC')} AS head, ${block(2, within, 'DESC')} AS tail) e
    `,
    );
    const sum = (level: number) => `coalesce((SELECT sum(n) FROM ${table} WHERE l = ${level} AND k >= ? AND k < ?), 0)`;
    const walk = `(SELECT count(*) FROM ${entries} WHERE k >= ? AND k < ?)`;
    this.#add = new Statement(
      db,
      `SELECT ${sum(2)} + ${sum(1)} + ${sum(1)} AS added, ${walk} + ${walk} + ${walk} + ${walk} AS walked`,
    );
    this.#entries = new Statement(db, `SELECT ${walk} AS n`);
    this.#blockAfter = new Statement(db, `SELECT k FROM ${table} WHERE ${range} ORDER BY k LIMIT 1 OFFSET ?`);
    this.#entryAfter = new Statement(db, `SELECT k FROM ${entries} WHERE k >= ? AND k < ? ORDER BY k LIMIT 1 OFFSET ?`);
  }

  /** To be called after an entry was added (1) or removed (-1); `total`: how many its prefix has now. */
  changed(key: Uint8Array, prefix: Uint8Array, by: 1 | -1, total: number): void {
    this.#changedAt(1, key, prefix, by, total);
    this.#changedAt(2, key, prefix, by, total);
  }

  #changedAt(level: 1 | 2, key: Uint8Array, prefix: Uint8Array, by: 1 | -1, total: number): void {
    const size = this.#sizes[level - 1]!;
    if (total <= size >> 1) {
      if (by < 0 && total === size >> 1) this.#removeAll.run(level, prefix, successor(prefix));
      return;
    }
    this.#unfit = null;
    const isThere = this.#change.run(by, level, level, prefix, key).changes > 0;
    const unfit = this.#unfit as RawBlock | null;
    if (unfit && unfit.n > 0) this.#cut(level, unfit, successor(prefix));
    else if (unfit && unfit.k.length > prefix.length + 1) this.#remove.run(level, unfit.k);
    else if (!isThere && total > size) this.#begin(level, prefix, total);
  }

  /** The number of entries in a range of one prefix, and how many of them were walked. null: no block begins in it, so that all are to be walked. */
  countIn(range: KeyRange): { count: number; walked: number } | null {
    const points = this.#pointsOf(range);
    if (!points) return null;
    const [from, a, b, c, d, e, f, to] = points;
    const { added, walked } = this.#add.get(c, d, a, b, e, f, from, a, b, c, d, e, f, to) as Record<string, number>;
    return { count: added! + walked!, walked: walked! };
  }

  /**
   * Where a range is parted: between the middle points blocks of the second level are added up, beside them, between the points before and
   * after, those of the first level, and what is left are entries, which are walked.
   */
  #pointsOf({ from, to }: KeyRange): Points | null {
    const { first, last, head, tail, before, after } = this.#edges.get(from, to) as Edges;
    if (!first || !last) return null;
    if (!head || !tail || Buffer.compare(head, tail) === 0) return [from, first, last, to, to, to, to, to];
    const left = before ? [first, before] : [head, head];
    const right = after ? [after, last] : [to, to];
    return [from, left[0]!, left[1]!, head, tail, right[0]!, right[1]!, to];
  }

  drop(db: DatabaseSync): void {
    db.exec(`DROP TABLE ${this.#table}`);
  }

  /** An update that returned its row would take nearly twice as long, and few blocks have to be looked at. */
  #noteUnfit(db: DatabaseSync): void {
    const [noted, [small, large]] = [`${this.#table}_unfit`, this.#sizes];
    db.function(noted, (k, n) => {
      this.#unfit = { k: k as Uint8Array, n: Number(n) };
      return null;
    });
    db.exec(`
      CREATE TEMP TRIGGER IF NOT EXISTS ${noted} AFTER UPDATE ON main.${this.#table}
      WHEN new.n = 0 OR new.n > iif(new.l = 1, ${small}, ${large}) BEGIN SELECT ${noted}(new.k, new.n); END
    `);
  }

  /** The first block of a prefix begins below all of its keys. */
  #begin(level: 1 | 2, prefix: Uint8Array, total: number): void {
    const k = Buffer.concat([prefix, Buffer.of(0)]);
    this.#set.run(level, k, total);
    this.#cut(level, { k, n: total }, successor(prefix));
  }

  /** Cuts a block that has become too large into smaller ones. Entries with the same key are never parted. */
  #cut(level: 1 | 2, { k, n }: RawBlock, endOfPrefix: Uint8Array): void {
    const next = this.#first.get(level, Buffer.concat([k, Buffer.of(0)]), endOfPrefix)?.k as Uint8Array | undefined;
    const to = next ?? endOfPrefix;
    for (let [from, left] = [k, n]; left > this.#sizes[level - 1]!; ) {
      const found =
        level === 1
          ? this.#entryAfter.get(from, to, this.#sizes[0] >> 1)
          : this.#blockAfter.get(level - 1, from, to, this.#blocksMax >> 1);
      const middle = found?.k as Uint8Array | undefined;
      if (!middle || Buffer.compare(middle, from) === 0) return;
      // The block that is cut is the only one of its level in this range, so that its own number is not counted.
      const here = this.countIn({ from, to: middle })?.count ?? Number(this.#entries.get(from, middle)?.n);
      this.#set.run(level, from, here);
      left -= here;
      from = middle;
      this.#set.run(level, from, left);
    }
  }
}
