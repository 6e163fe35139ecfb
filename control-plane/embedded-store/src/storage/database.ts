import { execFile } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { ID_INDEX, type IndexSpec, indexSpec, isSameIndex } from '../indexes/index-spec.ts';
import { IndexTable } from '../indexes/index-table.ts';
import { type LogSync, openLogSync } from './log-sync.ts';
import { Records } from './records.ts';

/**
 * `user_version` of the file: the version of its table layout. Code of versions 1 and 2 would not keep the blocks of
 * indexes right.
 */
const FORMAT = 3;
const MEMORY = ':memory:';
/** A process that was just killed may still hold the lock for a moment. */
const WAIT_FOR_LOCK_MS = 500;
const SQLITE_BUSY = 5;
/** Pages of the log at which it is written into the file, which then begins anew. */
const CHECKPOINT_PAGES = 2000;
const COPY_PROCESS = fileURLToPath(new URL('copy-file-process.ts', import.meta.url));

/**
 * The file, its collections and its transactions. One process at a time: SQLite's exclusive lock, which the system
 * lifts when the process ends, however it ends. A transaction that is committed has been handed to the system and
 * survives a SIGKILL; it survives a power cut too when {@link Database.synced} has resolved, and is never there by
 * half.
 */
export class Database {
  #db: DatabaseSync;
  #log: LogSync;
  #collections = new Map<string, Records>();
  #depth = 0;
  readonly #path: string;
  #copying: Promise<unknown> | null = null;

  constructor(path: string) {
    this.#path = path;
    if (path !== MEMORY) mkdirSync(dirname(path), { recursive: true });
    this.#db = openLocked(path);
    this.#log = openLogSync(path === MEMORY ? null : path);
    this.#db.exec(`
      CREATE TABLE IF NOT EXISTS collections (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
      CREATE TABLE IF NOT EXISTS indexes (
        id INTEGER PRIMARY KEY, collection INTEGER NOT NULL, keys TEXT NOT NULL, options TEXT NOT NULL, arrays INTEGER NOT NULL
      );
    `);
    for (const { id, name } of this.#db.prepare('SELECT id, name FROM collections ORDER BY id').all()) {
      this.#collections.set(String(name), this.#open(Number(id), String(name)));
    }
  }

  /** An existing collection; undefined before the first write to it. */
  existing(name: string): Records | undefined {
    return this.#collections.get(name);
  }

  get all(): Records[] {
    return [...this.#collections.values()];
  }

  /** A collection, created if it is missing. */
  collection(name: string): Records {
    return this.existing(name) ?? this.transaction(() => this.#create(name));
  }

  #create(name: string): Records {
    const { lastInsertRowid } = this.#db.prepare('INSERT INTO collections (name) VALUES (?)').run(name);
    const records = new Records(this.#db, Number(lastInsertRowid), name);
    this.#addIndex(records, indexSpec({ _id: 1 }, { name: ID_INDEX, unique: true }));
    this.#collections.set(name, records);
    return records;
  }

  #open(id: number, name: string): Records {
    const records = new Records(this.#db, id, name);
    const rows = this.#db
      .prepare('SELECT id, keys, options, arrays FROM indexes WHERE collection = ? ORDER BY id')
      .all(id);
    for (const row of rows) {
      const spec = indexSpec(JSON.parse(String(row.keys)), JSON.parse(String(row.options)));
      records.indexes.push(new IndexTable(this.#db, Number(row.id), spec, Records.table(id), Number(row.arrays)));
    }
    return records;
  }

  /** Creates and fills an index. Does nothing if it exists; throws if another index has its name. */
  createIndex(records: Records, spec: IndexSpec): void {
    const existing = records.indexes.map((index) => index.spec);
    if (!isSameIndex(spec, existing)) this.transaction(() => this.#addIndex(records, spec));
    else this.#changeIndex(records, spec);
  }

  /** Changes what an existing index counts by, and the text whose parts it finds. */
  #changeIndex(records: Records, spec: IndexSpec): void {
    const index = records.indexes.find((one) => one.spec.name === spec.name);
    if (!index || (index.spec.countedPrefix === spec.countedPrefix && index.spec.partsOf === spec.partsOf)) return;
    if (index.spec.countedPrefix === spec.countedPrefix) this.#changeParts(records, index, spec);
    else {
      this.dropIndex(records, index);
      this.transaction(() => this.#addIndex(records, spec));
    }
  }

  /** Keeps the entries. Existing documents are added to the parts with later writes, because they may be many. */
  #changeParts(records: Records, index: IndexTable, spec: IndexSpec): void {
    const changed = this.transaction(() => {
      index.parts?.drop(this.#db);
      this.#db.prepare('UPDATE indexes SET options = ? WHERE id = ?').run(optionsOf(spec), index.id);
      return new IndexTable(this.#db, index.id, spec, Records.table(records.id), index.arrays);
    });
    records.indexes.splice(records.indexes.indexOf(index), 1, changed);
  }

  #addIndex(records: Records, spec: IndexSpec): void {
    const keys = spec.components.map(({ path, direction }) => [path, direction]);
    const { lastInsertRowid } = this.#db
      .prepare('INSERT INTO indexes (collection, keys, options, arrays) VALUES (?, ?, ?, 0)')
      .run(records.id, JSON.stringify(keys), optionsOf(spec));
    const index = new IndexTable(this.#db, Number(lastInsertRowid), spec, Records.table(records.id), 0);
    records.fill(index);
    records.indexes.push(index);
  }

  dropIndex(records: Records, index: IndexTable): void {
    this.transaction(() => {
      this.#db.prepare('DELETE FROM indexes WHERE id = ?').run(index.id);
      index.drop(this.#db);
    });
    records.indexes.splice(records.indexes.indexOf(index), 1);
  }

  drop(records: Records): void {
    this.transaction(() => {
      for (const index of records.indexes) index.drop(this.#db);
      this.#db.prepare('DELETE FROM indexes WHERE collection = ?').run(records.id);
      this.#db.prepare('DELETE FROM collections WHERE id = ?').run(records.id);
      records.drop(this.#db);
    });
    this.#collections.delete(records.name);
  }

  /** Runs `work` in a transaction and rolls back if it throws. A nested transaction is rolled back alone. */
  transaction<T>(work: () => T): T {
    this.#log.assertWorking();
    const [begin, commit, rollback] =
      this.#depth === 0
        ? ['BEGIN IMMEDIATE', 'COMMIT', 'ROLLBACK']
        : ['SAVEPOINT inner_work', 'RELEASE inner_work', 'ROLLBACK TO inner_work; RELEASE inner_work'];
    if (this.#depth > 0) this.#writeCounts();
    this.#db.exec(begin);
    this.#depth += 1;
    try {
      const result = work();
      if (this.#depth === 1) this.#writeCounts();
      this.#db.exec(commit);
      if (this.#depth === 1) this.#log.committed();
      return result;
    } catch (error) {
      // On a full disk SQLite has rolled back already.
      if (this.#db.isTransaction) this.#db.exec(rollback);
      this.#forgetUncreated();
      for (const { indexes } of this.all) for (const index of indexes) index.recall();
      throw error;
    } finally {
      this.#depth -= 1;
    }
  }

  /**
   * After a rollback: what it has removed from the file is gone from here too, else each later write would look for its
   * tables.
   */
  #forgetUncreated(): void {
    const idsIn = (table: string) =>
      new Set(
        this.#db
          .prepare(`SELECT id FROM ${table}`)
          .all()
          .map(({ id }) => Number(id)),
      );
    const [collections, indexes] = [idsIn('collections'), idsIn('indexes')];
    for (const records of this.all) {
      if (!collections.has(records.id)) this.#collections.delete(records.name);
      const left = records.indexes.filter(({ id }) => indexes.has(id));
      records.indexes.splice(0, records.indexes.length, ...left);
    }
  }

  #writeCounts(): void {
    for (const { indexes } of this.all) for (const index of indexes) index.writeCounts();
  }

  /** Resolves when everything committed before the call would survive a power cut. */
  synced(): Promise<void> {
    return this.#log.synced();
  }

  ping(): void {
    this.#log.assertWorking();
    this.#db.prepare('SELECT 1').get();
  }

  /**
   * Copies the file, as it is now, to `to`, which must not exist. The log is written into it first; meanwhile further
   * transactions stay in the log, so that the file does not change. Another process copies it: in this one, closing a
   * second descriptor of the file would lift its lock.
   */
  async backUp(to: string): Promise<void> {
    if (this.#path === MEMORY) throw new Error('a store in memory has no file');
    if (this.#copying) throw new Error('the store is being copied already');
    this.#db.exec('PRAGMA wal_autocheckpoint = 0');
    try {
      const { busy } = this.#db.prepare('PRAGMA wal_checkpoint(FULL)').get() ?? {};
      if (busy !== 0) throw new Error('the log of the store could not be written into its file');
      this.#copying = promisify(execFile)(process.execPath, [COPY_PROCESS, this.#path, to]);
      await this.#copying;
    } finally {
      this.#copying = null;
      if (this.#db.isOpen) this.#db.exec(`PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
    }
  }

  /** Waits for a copy, because the file changes when it is closed. */
  async close(): Promise<void> {
    await this.#copying?.catch(() => undefined);
    if (!this.#db.isOpen) return;
    this.#db.close();
    await this.#log.close();
  }
}

function optionsOf({ name, unique, sparse, expireAfterSeconds, countedPrefix, partsOf }: IndexSpec): string {
  return JSON.stringify({ name, unique, sparse, expireAfterSeconds, countedPrefix, partsOf });
}

function openLocked(path: string): DatabaseSync {
  const db = new DatabaseSync(path, { timeout: WAIT_FOR_LOCK_MS });
  try {
    db.exec(`
      PRAGMA locking_mode = EXCLUSIVE;
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = NORMAL; -- and LogSync: together they are FULL
      PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES};
      PRAGMA mmap_size = 268435456;
      PRAGMA cache_size = -65536;
    `);
    const format = Number(db.prepare('PRAGMA user_version').get()?.user_version);
    if (format > FORMAT) throw new Error(`${path} is of format ${format}, this version reads ${FORMAT}`);
    db.exec(`BEGIN IMMEDIATE; PRAGMA user_version = ${FORMAT}; COMMIT`); // Takes and keeps the exclusive lock.
    return db;
  } catch (error) {
    db.close();
    if (error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY) {
      throw new Error(`the store ${path} is open in another process`, { cause: error });
    }
    throw error;
  }
}
