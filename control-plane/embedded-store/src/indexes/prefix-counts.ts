import type { DatabaseSync } from 'node:sqlite';
import { Statement } from '../statement.ts';

/** The number of entries for each prefix of an index, updated in the transactions that change the index. */
export class PrefixCounts {
  readonly #table: string;
  #add: Statement;
  #forget: Statement;
  #read: Statement;

  constructor(db: DatabaseSync, indexId: number) {
    this.#table = `counts_${indexId}`;
    db.exec(`CREATE TABLE IF NOT EXISTS ${this.#table} (k BLOB PRIMARY KEY, n INTEGER NOT NULL) WITHOUT ROWID`);
    this.#add = new Statement(
      db,
      `INSERT INTO ${this.#table} (k, n) VALUES (?, ?) ON CONFLICT (k) DO UPDATE SET n = n + excluded.n RETURNING n`,
    );
    this.#forget = new Statement(db, `DELETE FROM ${this.#table} WHERE k = ? AND n = 0`);
    this.#read = new Statement(db, `SELECT n FROM ${this.#table} WHERE k = ?`);
  }

  /** Returns the new number. */
  add(prefix: Uint8Array, by: 1 | -1): number {
    const total = Number(this.#add.get(prefix, by)?.n);
    if (total === 0) this.#forget.run(prefix);
    return total;
  }

  sum(prefixes: readonly Uint8Array[]): number {
    return prefixes.reduce((total, prefix) => total + Number(this.#read.get(prefix)?.n ?? 0), 0);
  }

  drop(db: DatabaseSync): void {
    db.exec(`DROP TABLE ${this.#table}`);
  }
}
