import type { DatabaseSync } from 'node:sqlite';
import { Statement } from '../statement.ts';
import type { Fields } from '../stored-document.ts';
import { BlockCounts } from './block-counts.ts';
import { type IndexKey, indexEntries } from './index-keys.ts';
import type { IndexSpec } from './index-spec.ts';
import type { KeyRange } from './key-range.ts';
import { PartIndex } from './part-index.ts';
import { PrefixCounts } from './prefix-counts.ts';

/** A stored document; `key`: the index key that found it. */
export type StoredRow = { row: number; bytes: Uint8Array; key?: Uint8Array };
export type EntryPosition = { key: Uint8Array; row: number };

type RawRow = { k: Uint8Array; r: number; d: Uint8Array };

/** An index as a table of (key, row of the document), ordered by key. */
export class IndexTable {
  readonly spec: IndexSpec;
  readonly id: number;
  #arrays: number;
  #insert: Statement;
  #delete: Statement;
  #other: Statement;
  #count: Statement;
  #countFrom: Statement;
  #further: Statement;
  #documents: Pages;
  #entries: Pages;
  #remember: Statement;
  #recall: Statement;
  /** Null if the index has no counters. */
  readonly counts: PrefixCounts | null;
  /** Null if the index has no counters, or none of its fields comes after those that it counts by. */
  readonly blocks: BlockCounts | null;
  /** Null if the index finds no parts of texts. */
  readonly parts: PartIndex | null;

  /** `arrays`: a bit mask of the components that were ever an array. */
  constructor(db: DatabaseSync, id: number, spec: IndexSpec, documents: string, arrays: number) {
    this.id = id;
    this.spec = spec;
    this.#arrays = arrays;
    const table = `index_${id}`;
    db.exec(
      `CREATE TABLE IF NOT EXISTS ${table} (k BLOB NOT NULL, r INTEGER NOT NULL, PRIMARY KEY (k, r)) WITHOUT ROWID`,
    );
    this.counts = spec.countedPrefix === undefined ? null : new PrefixCounts(db, id);
    const isOrdered = spec.countedPrefix !== undefined && spec.countedPrefix < spec.components.length;
    this.blocks =
      this.counts && isOrdered ? new BlockCounts(db, id, { entries: table, counts: this.counts.table }) : null;
    this.parts = spec.partsOf === undefined ? null : new PartIndex(db, id, spec, spec.partsOf, documents);
    this.#insert = new Statement(db, `INSERT INTO ${table} (k, r) VALUES (?, ?)`);
    this.#delete = new Statement(db, `DELETE FROM ${table} WHERE k = ? AND r = ?`);
    this.#other = new Statement(db, `SELECT r FROM ${table} WHERE k = ? AND r <> ? LIMIT 1`);
    this.#count = new Statement(
      db,
      `SELECT count(*) AS n FROM (SELECT 1 FROM ${table} WHERE k >= ? AND k < ? LIMIT ?)`,
    );
    this.#countFrom = new Statement(
      db,
      `SELECT count(*) AS n FROM (SELECT 1 FROM ${table} WHERE (k, r) >= (?, ?) AND k < ? LIMIT ?)`,
    );
    this.#further = new Statement(
      db,
      `SELECT k, r FROM ${table} WHERE (k, r) >= (?, ?) AND k < ? ORDER BY k, r LIMIT 1 OFFSET ?`,
    );
    this.#remember = new Statement(db, 'UPDATE indexes SET arrays = ? WHERE id = ?');
    this.#recall = new Statement(db, 'SELECT arrays FROM indexes WHERE id = ?');
    this.#documents = pagesOf(db, 'i.k, i.r, d.d', `${table} i CROSS JOIN ${documents} d ON d.r = i.r`);
    this.#entries = pagesOf(db, 'i.k, i.r', `${table} i`);
  }

  /** A bit mask of the components that were ever an array. */
  get arrays(): number {
    return this.#arrays;
  }

  /** Whether any document ever had an array at this component. */
  isArrayAt(at: number): boolean {
    return (this.#arrays & (1 << at)) !== 0;
  }

  /** Whether one document can have several entries. */
  get isMultikey(): boolean {
    return this.#arrays !== 0;
  }

  /** Whether every component that was ever an array is one of `components`. */
  arraysAreIn(components: Iterable<number>): boolean {
    let others = this.#arrays;
    for (const at of components) others &= ~(1 << at);
    return others === 0;
  }

  /** After a rollback: rereads which components were ever arrays. */
  recall(): void {
    this.#arrays = Number(this.#recall.get(this.id)?.arrays ?? 0);
    this.counts?.recall();
    this.blocks?.recall();
    this.parts?.recall();
  }

  /** Writes what a transaction has counted: before it ends, and before one inside it begins. */
  writeCounts(): void {
    this.counts?.write();
    this.blocks?.write();
  }

  keysOf(fields: Fields): IndexKey[] {
    const { keys, arrayAt } = indexEntries(this.spec, fields);
    if (arrayAt >= 0 && !this.isArrayAt(arrayAt)) {
      this.#arrays |= 1 << arrayAt;
      this.#remember.run(this.#arrays, this.id);
    }
    return keys;
  }

  add(key: IndexKey, row: number): void {
    this.#insert.run(key.bytes, row);
    this.#changed(key, 1);
  }

  remove(key: IndexKey, row: number): void {
    this.#delete.run(key.bytes, row);
    this.#changed(key, -1);
  }

  #changed({ bytes, counted }: IndexKey, by: 1 | -1): void {
    if (!this.counts) return;
    const prefix = bytes.subarray(0, counted);
    const total = this.counts.add(prefix, by);
    this.blocks?.changed(bytes, prefix, by, total);
  }

  /** Whether a document other than `row` has this key. */
  isTaken(key: Uint8Array, row: number): boolean {
    return this.#other.get(key, row) !== undefined;
  }

  /** The number of entries in the ranges, counted up to `most`. */
  count(ranges: readonly KeyRange[], most: number): number {
    let total = 0;
    for (const { from, to } of ranges) {
      if (total < most) total += Number(this.#count.get(from, to, most - total)?.n);
    }
    return total;
  }

  /** The entry `count` after the first one from `from`; null if it is beyond `to`. */
  entryAfter(from: EntryPosition, to: Uint8Array, count: number): EntryPosition | null {
    const found = this.#further.get(from.key, from.row, to, count) as Pick<RawRow, 'k' | 'r'> | undefined;
    return found ? { key: found.k, row: found.r } : null;
  }

  /** The number of entries from `from` (inclusive) to `to` (exclusive), counted up to `most`. */
  countFrom(from: EntryPosition, to: Uint8Array, most: number): number {
    return Number(this.#countFrom.get(from.key, from.row, to, most)?.n);
  }

  /** The next `count` documents of a range in key order, after `after`. Leaves no statement open. */
  page(range: KeyRange, reverse: boolean, after: EntryPosition | undefined, count: number): Required<StoredRow>[] {
    const rows = readPage(this.#documents, range, reverse, after, count) as RawRow[];
    return rows.map(({ k, r, d }) => ({ key: k, row: r, bytes: d }));
  }

  /** Like `page`, without reading the documents; passes over the first `skip`. */
  entries(
    range: KeyRange,
    reverse: boolean,
    after: EntryPosition | undefined,
    count: number,
    skip = 0,
  ): EntryPosition[] {
    const rows = readPage(this.#entries, range, reverse, after, count, skip) as Pick<RawRow, 'k' | 'r'>[];
    return rows.map(({ k, r }) => ({ key: k, row: r }));
  }

  drop(db: DatabaseSync): void {
    db.exec(`DROP TABLE index_${this.id}`);
    this.counts?.drop(db);
    this.blocks?.drop(db);
    this.parts?.drop(db);
  }
}

/** The statements that read a range of an index in both directions, from its start or after an entry. */
type Pages = Readonly<Record<'up' | 'down', { first: Statement; next: Statement }>>;

function pagesOf(db: DatabaseSync, columns: string, tables: string): Pages {
  const page = (from: string, order: string): Statement =>
    new Statement(db, `SELECT ${columns} FROM ${tables} WHERE ${from} ORDER BY ${order} LIMIT ? OFFSET ?`);
  return {
    up: {
      first: page('i.k >= ? AND i.k < ?', 'i.k, i.r'),
      next: page('(i.k, i.r) > (?, ?) AND i.k < ?', 'i.k, i.r'),
    },
    down: {
      first: page('i.k < ? AND i.k >= ?', 'i.k DESC, i.r DESC'),
      next: page('(i.k, i.r) < (?, ?) AND i.k >= ?', 'i.k DESC, i.r DESC'),
    },
  };
}

function readPage(
  pages: Pages,
  { from, to }: KeyRange,
  reverse: boolean,
  after: EntryPosition | undefined,
  count: number,
  skip = 0,
) {
  const { first, next } = pages[reverse ? 'down' : 'up'];
  const [start, end] = reverse ? [to, from] : [from, to];
  return after ? next.all(after.key, after.row, end, count, skip) : first.all(start, end, count, skip);
}
