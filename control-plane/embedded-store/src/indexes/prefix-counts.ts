import type { DatabaseSync } from 'node:sqlite';
import { Statement } from '../statement.ts';
import { textOf } from './key-range.ts';

/**
 * The number of entries for each prefix of an index. What a transaction changes is written when it ends, each prefix
 * once, however many entries were added and removed.
 */
export class PrefixCounts {
  readonly table: string;
  /** Numbers that are not written yet, by prefix. */
  readonly #changed = new Map<string, number>();
  #set: Statement;
  #forget: Statement;
  #read: Statement;

  constructor(db: DatabaseSync, indexId: number) {
    this.table = `counts_${indexId}`;
    db.exec(`CREATE TABLE IF NOT EXISTS ${this.table} (k BLOB PRIMARY KEY, n INTEGER NOT NULL) WITHOUT ROWID`);
    this.#set = new Statement(
      db,
      `INSERT INTO ${this.table} (k, n) VALUES (?, ?) ON CONFLICT (k) DO UPDATE SET n = excluded.n`,
    );
    this.#forget = new Statement(db, `DELETE FROM ${this.table} WHERE k = ?`);
    this.#read = new Statement(db, `SELECT n FROM ${this.table} WHERE k = ?`);
  }

  /** Returns the new number. */
  add(prefix: Uint8Array, by: 1 | -1): number {
    const key = textOf(prefix);
    const total = this.#of(prefix, key) + by;
    this.#changed.set(key, total);
    return total;
  }

  sum(prefixes: readonly Uint8Array[]): number {
    return prefixes.reduce((total, prefix) => total + this.#of(prefix, textOf(prefix)), 0);
  }

  #of(prefix: Uint8Array, key: string): number {
    return this.#changed.get(key) ?? Number(this.#read.get(prefix)?.n ?? 0);
  }

  /** Writes what has changed: before the transaction ends, and before one inside it begins. */
  write(): void {
    if (this.#changed.size === 0) return;
    for (const [key, total] of this.#changed) {
      const prefix = Buffer.from(key, 'latin1');
      if (total === 0) this.#forget.run(prefix);
      else this.#set.run(prefix, total);
    }
    this.#changed.clear();
  }

  /** After a rollback: what was not written has not happened. */
  recall(): void {
    this.#changed.clear();
  }

  drop(db: DatabaseSync): void {
    this.#changed.clear();
    db.exec(`DROP TABLE ${this.table}`);
  }
}
