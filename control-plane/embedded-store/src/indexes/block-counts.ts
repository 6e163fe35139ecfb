import type { DatabaseSync } from 'node:sqlite';
import { Statement } from '../statement.ts';
import { type KeyRange, successor, textOf } from './key-range.ts';

type RawBlock = { k: Uint8Array; n: number };
/** The key of an entry that was added (1) or removed (-1). */
type Change = { key: Uint8Array; by: 1 | -1 };
/** What a transaction has changed under a prefix; `total`: the number of entries that it has now. */
type PrefixChanges = { prefix: Uint8Array; total: number; changes: Change[] };
/**
 * The first and the last block of both levels in a range, the last of the first level before the second one's, and the
 * first after them.
 */
type Edges = Record<'first' | 'last', Uint8Array> & Record<'head' | 'tail' | 'before' | 'after', Uint8Array | null>;
/** The entries of the block in which a range begins and of its last one, null where these are not all in the range. */
type Ends = Record<'begun' | 'last', number | null>;
/** Keys in their order: the start of a range, where the counts of the blocks of a level begin or end, and its end. */
type Points = [Uint8Array, Uint8Array, Uint8Array, Uint8Array, Uint8Array, Uint8Array, Uint8Array, Uint8Array];

/** More entries than this become several blocks, so that counting walks few at each end of a range. */
const BLOCK_MAX = 128;
/** A block of the second level has the entries of so many blocks, so that few numbers are added up. */
const BLOCKS_MAX = 128;
/**
 * A prefix gets blocks when it has more entries: to walk fewer takes less time than to keep their blocks at each
 * change.
 */
const WALKED_MAX = 1_024;
/** Changes of one transaction that are kept in memory. */
const CHANGES_MAX = 10_000;

/**
 * The numbers of entries in blocks of an index, so that those in a range are counted without walking them: a block
 * begins at its key and ends where the next one of its level and prefix does. A prefix has blocks of a level only while
 * it has so many entries that it needs them. What a transaction changes is written when it ends, each block once:
 * documents that change together are often neighbours. Blocks of an index that was filled by an earlier version are
 * made by later writes.
 */
export class BlockCounts {
  readonly #table: string;
  /** The most entries of a block by level. */
  readonly #sizes: [number, number];
  /** The most entries of a prefix without blocks, by level. */
  readonly #walked: [number, number];
  readonly #blocksMax: number;
  /** What is not written yet, by prefix. */
  readonly #changed = new Map<string, PrefixChanges>();
  #changes = 0;
  /** Blocks that updates have left empty or too large. */
  #unfit: RawBlock[] = [];
  #changeAt: Statement;
  #change: Statement;
  #blockOf: Statement;
  #set: Statement;
  #remove: Statement;
  #removeAll: Statement;
  #first: Statement;
  #edges: Statement;
  #ends: Statement;
  #add: Statement;
  #entries: Statement;
  #blockAfter: Statement;
  #entryAfter: Statement;

  /** `entries`: the table of the index; `counts`: that of the numbers of its entries by prefix. */
  constructor(
    db: DatabaseSync,
    indexId: number,
    { entries, counts }: { entries: string; counts: string },
    { blockMax = BLOCK_MAX, blocksMax = BLOCKS_MAX, walkedMax = WALKED_MAX } = {},
  ) {
    this.#table = `blocks_${indexId}`;
    this.#sizes = [blockMax, blockMax * blocksMax];
    this.#walked = [walkedMax, Math.max(walkedMax, blockMax * blocksMax)];
    this.#blocksMax = blocksMax;
    const table = this.#table;
    db.exec(
      `CREATE TABLE IF NOT EXISTS ${table} (l INTEGER, k BLOB, n INTEGER NOT NULL, PRIMARY KEY (l, k)) WITHOUT ROWID`,
    );
    this.#removeNeedless(db, counts);
    this.#noteUnfit(db);
    const range = 'l = ? AND k >= ? AND k < ?';
    const blockAt = `(SELECT k FROM ${table} WHERE l = ?1 AND k > ?2 AND k <= ?3 ORDER BY k DESC LIMIT 1)`;
    this.#changeAt = new Statement(db, `UPDATE ${table} SET n = n + ?4 WHERE l = ?1 AND k = ${blockAt}`);
    this.#change = new Statement(db, `UPDATE ${table} SET n = n + ? WHERE l = ? AND k = ?`);
    this.#blockOf = new Statement(
      db,
      `
      SELECT ${blockAt} AS k,
        (SELECT k FROM ${table} WHERE l = ?1 AND k > ?3 AND k < ?4 ORDER BY k LIMIT 1) AS next
    `,
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
    const nothing = (from: string, to: string) =>
      `NOT EXISTS (SELECT 1 FROM ${entries} WHERE k >= ${from} AND k < ${to})`;
    // Where no other block begins later, a key after all others takes its place.
    const next = `coalesce((SELECT k FROM ${table} WHERE l = 1 AND k > ?2 ORDER BY k LIMIT 1), x'ff')`;
    this.#ends = new Statement(
      db,
      `
      SELECT (SELECT b.n FROM (SELECT k, n FROM ${table} WHERE l = 1 AND k < ?1 ORDER BY k DESC LIMIT 1) b
          WHERE ${nothing('b.k', '?1')}) AS begun,
        (SELECT n FROM ${table} WHERE l = 1 AND k = ?2 AND ${nothing('?3', next)}) AS last
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

  /** To be called after an entry was added (1) or removed (-1); `total`: how many entries it has now. */
  changed(key: Uint8Array, prefix: Uint8Array, by: 1 | -1, total: number): void {
    const text = textOf(prefix);
    const known = this.#changed.get(text);
    // A prefix that has no blocks, and gets none: most are small.
    if (!known && Math.max(total, total - by) <= this.#walked[0] >> 1) return;
    if (known) {
      known.total = total;
      known.changes.push({ key, by });
    } else this.#changed.set(text, { prefix, total, changes: [{ key, by }] });
    this.#changes += 1;
    if (this.#changes >= CHANGES_MAX) this.write();
  }

  /** Writes what has changed: before the transaction ends, and before one inside it begins. */
  write(): void {
    if (this.#changes === 0) return;
    const changed = [...this.#changed.values()];
    this.recall();
    for (const one of changed) {
      one.changes.sort((a, b) => Buffer.compare(a.key, b.key));
      const end = successor(one.prefix);
      this.#writeLevel(1, one, end);
      this.#writeLevel(2, one, end);
    }
  }

  /** After a rollback: what was not written has not happened. */
  recall(): void {
    this.#changed.clear();
    this.#changes = 0;
    this.#unfit = [];
  }

  #writeLevel(level: 1 | 2, { prefix, total, changes }: PrefixChanges, end: Uint8Array): void {
    const most = this.#walked[level - 1]!;
    if (total <= most >> 1) {
      const before = changes.reduce((sum, { by }) => sum - by, total);
      if (before > most >> 1) this.#removeAll.run(level, prefix, end);
      return;
    }
    const hasBlocks = this.#addToBlocks(level, prefix, end, changes);
    if (!hasBlocks && total > most) this.#begin(level, prefix, total);
    // Only now, because to cut a block is to count its entries, which are all there already. A cut notes blocks itself,
    // which are done by then.
    for (const unfit of this.#unfit.splice(0)) {
      if (unfit.n > 0) this.#cut(level, unfit, end);
      else if (unfit.k.length > prefix.length + 1) this.#remove.run(level, unfit.k);
    }
    this.#unfit = [];
  }

  /** Adds changes, which are in the order of their keys, to the blocks of a prefix, if it has any. */
  #addToBlocks(level: 1 | 2, prefix: Uint8Array, end: Uint8Array, changes: readonly Change[]): boolean {
    const [first] = changes;
    if (changes.length === 1) return this.#changeAt.run(level, prefix, first!.key, first!.by).changes > 0;
    for (let at = 0; at < changes.length; ) {
      const { k, next } = this.#blockOf.get(level, prefix, changes[at]!.key, end) as Record<
        'k' | 'next',
        Uint8Array | null
      >;
      if (!k) return false;
      let by = 0;
      for (; at < changes.length && (!next || Buffer.compare(changes[at]!.key, next) < 0); at += 1)
        by += changes[at]!.by;
      if (by !== 0) this.#change.run(by, level, k);
    }
    return true;
  }

  /**
   * The number of entries in a range of one prefix, and how many of them were walked. null: no block begins in it, so
   * that all are to be walked.
   */
  countIn(range: KeyRange): { count: number; walked: number } | null {
    this.write();
    const edges = this.#edgesOf(range);
    if (!edges) return null;
    const ends = this.#ends.get(range.from, edges.last, range.to) as Ends;
    // A block of the second level may begin in one of the first, after the block that began there has become empty.
    const begun = hasSecondLevel(edges) && !edges.before ? null : ends.begun;
    const last = hasSecondLevel(edges) && !edges.after ? null : ends.last;
    const rest = { from: begun === null ? range.from : edges.first, to: last === null ? range.to : edges.last };
    const { count, walked } = this.#countWithin(rest, edges);
    return { count: count + (begun ?? 0) + (last ?? 0), walked };
  }

  #edgesOf({ from, to }: KeyRange): Edges | null {
    const edges = this.#edges.get(from, to) as Edges | Record<'first', null>;
    return edges.first === null ? null : edges;
  }

  #countWithin(range: KeyRange, edges: Edges): { count: number; walked: number } {
    const [from, a, b, c, d, e, f, to] = pointsOf(range, edges);
    const { added, walked } = this.#add.get(c, d, a, b, e, f, from, a, b, c, d, e, f, to) as Record<string, number>;
    return { count: added! + walked!, walked: walked! };
  }

  drop(db: DatabaseSync): void {
    this.recall();
    db.exec(`DROP TABLE ${this.#table}`);
  }

  /**
   * An earlier version gave blocks to prefixes that get none now, and would not be kept right. The row of level 0 has
   * the bound that the others follow.
   */
  #removeNeedless(db: DatabaseSync, counts: string): void {
    const [table, [most]] = [this.#table, this.#walked];
    const kept = db.prepare(`SELECT n FROM ${table} WHERE l = 0`).get();
    if (kept?.n === most) return;
    db.exec(`
      DELETE FROM ${table} AS b WHERE (SELECT n FROM ${counts} WHERE k <= b.k ORDER BY k DESC LIMIT 1) <= ${most};
      INSERT OR REPLACE INTO ${table} (l, k, n) VALUES (0, x'', ${most});
    `);
  }

  /** An update that returned its row would take nearly twice as long, and few blocks have to be looked at. */
  #noteUnfit(db: DatabaseSync): void {
    const [noted, [small, large]] = [`${this.#table}_unfit`, this.#sizes];
    db.function(noted, (k, n) => {
      this.#unfit.push({ k: k as Uint8Array, n: Number(n) });
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
      // A block of the second level is the only one of its level in this range, so that its own number is not counted.
      // One of the first can have several of the second in its range, whose numbers are not written yet.
      const part = { from, to: middle };
      const edges = level === 1 ? null : this.#edgesOf(part);
      const here = edges ? this.#countWithin(part, edges).count : Number(this.#entries.get(from, middle)?.n);
      this.#set.run(level, from, here);
      left -= here;
      from = middle;
      this.#set.run(level, from, left);
    }
  }
}

type TwoLevels = Edges & Record<'head' | 'tail', Uint8Array>;
/** Whether whole blocks of the second level are in the range. */
const hasSecondLevel = (edges: Edges): edges is TwoLevels =>
  edges.head !== null && edges.tail !== null && Buffer.compare(edges.head, edges.tail) !== 0;

/**
 * The points that divide a range. In its middle the counts of blocks of the second level are added up, on both sides of
 * that those of the first level, and at the two ends the entries are walked.
 */
function pointsOf({ from, to }: KeyRange, edges: Edges): Points {
  const { first, last, before, after } = edges;
  if (!hasSecondLevel(edges)) return [from, first, last, to, to, to, to, to];
  const { head, tail } = edges;
  const [leftFrom, leftTo] = before ? [first, before] : [head, head];
  const [rightFrom, rightTo] = after ? [after, last] : [to, to];
  return [from, leftFrom, leftTo, head, tail, rightFrom, rightTo, to];
}
