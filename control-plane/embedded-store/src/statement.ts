import type {
  DatabaseSync,
  SQLInputValue,
  SQLOutputValue,
  StatementResultingChanges,
  StatementSync,
} from 'node:sqlite';

/**
 * A statement that is prepared when it is first run: an index has two dozen, a store has a hundred indexes, and a
 * process uses few of them. Refuses what SQLite refuses, such as an unknown table, only then.
 */
export class Statement {
  readonly #db: DatabaseSync;
  readonly #sql: string;
  #prepared: StatementSync | null = null;

  constructor(db: DatabaseSync, sql: string) {
    this.#db = db;
    this.#sql = sql;
  }

  run(...values: SQLInputValue[]): StatementResultingChanges {
    return this.#statement().run(...values);
  }

  /** The first row; undefined if there is none. */
  get(...values: SQLInputValue[]): Record<string, SQLOutputValue> | undefined {
    return this.#statement().get(...values);
  }

  all(...values: SQLInputValue[]): Record<string, SQLOutputValue>[] {
    return this.#statement().all(...values);
  }

  #statement(): StatementSync {
    this.#prepared ??= this.#db.prepare(this.#sql);
    return this.#prepared;
  }
}
