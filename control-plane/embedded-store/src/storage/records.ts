import type { DatabaseSync } from 'node:sqlite';
import { isDeepStrictEqual } from 'node:util';
import type { IndexKey } from '../indexes/index-keys.ts';
import { fieldsOfIndex } from '../indexes/index-spec.ts';
import type { IndexTable, StoredRow } from '../indexes/index-table.ts';
import { duplicateKey } from '../refusals.ts';
import { Statement } from '../statement.ts';
import { type Fields, fromBytes } from '../stored-document.ts';
import { fieldOf } from '../values/path-values.ts';
import { type FieldTree, pickFields, withWhole } from '../values/picked-fields.ts';

type RawRow = { r: number; d: Uint8Array };
type Entries = { index: IndexTable; keys: IndexKey[] };

/**
 * The documents of one collection with their indexes. A change is checked against every unique index before any of
 * it is written, so that a refused change leaves no traces.
 */
export class Records {
  readonly name: string;
  readonly id: number;
  readonly indexes: IndexTable[] = [];
  #insert: Statement;
  #update: Statement;
  #delete: Statement;
  #page: Statement;
  #get: Statement;
  #total: Statement;

  constructor(db: DatabaseSync, id: number, name: string) {
    this.id = id;
    this.name = name;
    const table = Records.table(id);
    db.exec(`CREATE TABLE IF NOT EXISTS ${table} (r INTEGER PRIMARY KEY AUTOINCREMENT, d BLOB NOT NULL)`);
    this.#insert = new Statement(db, `INSERT INTO ${table} (d) VALUES (?)`);
    this.#update = new Statement(db, `UPDATE ${table} SET d = ? WHERE r = ?`);
    this.#delete = new Statement(db, `DELETE FROM ${table} WHERE r = ?`);
    this.#page = new Statement(db, `SELECT r, d FROM ${table} WHERE r > ? ORDER BY r LIMIT ?`);
    this.#get = new Statement(db, `SELECT r, d FROM ${table} WHERE r = ?`);
    this.#total = new Statement(db, `SELECT count(*) AS n FROM ${table}`);
  }

  static table(id: number): string {
    return `documents_${id}`;
  }

  /** Throws E11000 if a unique index already has one of its keys. `bytes` must contain an `_id`. */
  insert(bytes: Uint8Array): void {
    const entries = this.#entries(this.indexes, fromBytes(pickFields(bytes, this.#indexed())), -1);
    const row = Number(this.#insert.run(bytes).lastInsertRowid);
    for (const { index, keys } of entries) {
      for (const key of keys) index.add(key, row);
      index.parts?.inserted(row);
    }
  }

  /** Throws E11000 as `insert` does. Touches only the indexes whose keys change. */
  replace(row: number, before: Fields, after: { fields: Fields; bytes: Uint8Array }): void {
    const isAffected = ({ spec }: IndexTable) =>
      fieldsOfIndex(spec).some((name) => mayChange(before, after.fields, name));
    const entries = this.#entries(this.indexes.filter(isAffected), after.fields, row);
    this.#update.run(after.bytes, row);
    for (const { index, keys } of entries) {
      const old = index.keysOf(before);
      const [gone, added] = [without(old, keys), without(keys, old)];
      for (const key of gone) index.remove(key, row);
      for (const key of added) index.add(key, row);
      if (gone.length > 0 || added.length > 0) index.parts?.changed(row);
    }
  }

  remove(row: number, fields: Fields): void {
    for (const index of this.indexes) {
      for (const key of index.keysOf(fields)) index.remove(key, row);
      index.parts?.removed(row);
    }
    this.#delete.run(row);
  }

  /** Documents in insertion order, after the row `after`. */
  page(after: number, count: number): StoredRow[] {
    return (this.#page.all(after, count) as RawRow[]).map(({ r, d }) => ({ row: r, bytes: d }));
  }

  get(row: number): StoredRow | undefined {
    const found = this.#get.get(row) as RawRow | undefined;
    return found && { row: found.r, bytes: found.d };
  }

  get total(): number {
    return Number(this.#total.get()?.n);
  }

  /** Fills a new index with the existing documents. Throws E11000 if a unique index finds duplicates. */
  fill(index: IndexTable): void {
    for (let rows = this.page(0, 500); rows.length > 0; rows = this.page(rows.at(-1)!.row, 500)) {
      for (const { row, bytes } of rows) {
        for (const key of this.#checked(index, fromBytes(bytes), row)) index.add(key, row);
        index.parts?.inserted(row);
      }
    }
  }

  drop(db: DatabaseSync): void {
    db.exec(`DROP TABLE ${Records.table(this.id)}`);
  }

  /** The fields that indexes have: a large document costs no more than these to index. */
  #indexed(): FieldTree {
    return withWhole(
      new Map(),
      this.indexes.flatMap(({ spec }) => fieldsOfIndex(spec)),
    );
  }

  #entries(indexes: IndexTable[], fields: Fields, row: number): Entries[] {
    return indexes.map((index) => ({ index, keys: this.#checked(index, fields, row) }));
  }

  #checked(index: IndexTable, fields: Fields, row: number): IndexKey[] {
    const keys = index.keysOf(fields);
    if (index.spec.unique && keys.some(({ bytes }) => index.isTaken(bytes, row))) throw this.#duplicate(index, fields);
    return keys;
  }

  #duplicate({ spec }: IndexTable, fields: Fields): Error {
    const pattern = Object.fromEntries(spec.components.map(({ path, direction }) => [path, direction]));
    const value = Object.fromEntries(spec.components.map(({ path }) => [path, valueFor(fields, path)]));
    return duplicateKey(this.name, spec.name, pattern, value);
  }
}

/** Whether the keys of a field may have changed: equal values that are written in two ways have the same keys. */
const mayChange = (before: Fields, after: Fields, name: string): boolean =>
  !isDeepStrictEqual(fieldOf(before, name), fieldOf(after, name));

function without(keys: IndexKey[], others: IndexKey[]): IndexKey[] {
  const known = new Set(others.map(({ bytes }) => bytes.toString('latin1')));
  return keys.filter(({ bytes }) => !known.has(bytes.toString('latin1')));
}

function valueFor(fields: Fields, path: string): unknown {
  return path.split('.').reduce<unknown>((value, name) => fieldOf(Object(value), name), fields) ?? null;
}
