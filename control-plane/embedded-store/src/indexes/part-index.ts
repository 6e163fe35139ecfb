import { hash } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import { Statement } from '../statement.ts';
import { fromBytes } from '../stored-document.ts';
import { indexedValues, splitPath } from '../values/path-values.ts';
import { type FieldTree, pickFields, textBytesAt, withWhole } from '../values/picked-fields.ts';
import { indexEntries } from './index-keys.ts';
import { fieldsOfIndex, type IndexSpec } from './index-spec.ts';

type RawRow = { r: number; d: Uint8Array };

/**
 * Documents that were inserted last are indexed together, which costs less than indexing each alone, and blocks the
 * event loop.
 */
const BATCH = 32;
/**
 * If more documents than this are not indexed yet, the index is not used: the store was written by an earlier version.
 */
const BACKLOG_MAX = 1_024;
const GRAM = 3;
/** A longer text is found by every search. */
const TEXT_LENGTH_MAX = 1_024;
/** A character of UTF-16 has at most so many bytes in UTF-8: a text with more bytes for each is longer. */
const BYTES_OF_CHARACTER = 3;
/** A search reads the lists of the rarest grams of a part: those of others are long and exclude few more texts. */
const GRAMS_SEARCHED = 4;
/** The last rows by which it is judged how rare a gram is, and the most grams that are judged. */
const ROWS_SAMPLED = 64;
const GRAMS_SAMPLED = 32;

/** `match`: an expression of FTS5. `rows`: how many rows have the rarest of its grams, as judged by the last ones. */
export type PartQuestion = { match: string; rows: number };

/**
 * Finds the documents that may contain a part of a text: an inverted index (SQLite's FTS5) from each three characters
 * to the rows whose texts have them, apart for each value of the counted prefix. Letter case is ignored, and characters
 * beyond ASCII are.
 */
export class PartIndex {
  readonly #spec: IndexSpec;
  readonly #table: string;
  readonly #segments: string[];
  readonly #needed: FieldTree;
  /** What is needed of a document whose text is too long to be read. */
  readonly #neededOfLong: FieldTree;
  #insert: Statement;
  #delete: Statement;
  #last: Statement;
  #documents: Statement;
  #document: Statement;
  #rows: Statement;
  #find: Statement;
  #sample: Statement;
  /** The row up to which all documents are indexed. */
  #through = 0;

  /** `path`: the field with the text. `documents`: the table of the documents. */
  constructor(db: DatabaseSync, id: number, spec: IndexSpec, path: string, documents: string) {
    this.#spec = spec;
    this.#table = `parts_${id}`;
    this.#segments = splitPath(path);
    const needed = fieldsOfIndex(spec);
    this.#needed = withWhole(new Map(), needed);
    this.#neededOfLong = withWhole(
      new Map(),
      needed.filter((name) => name !== this.#segments[0]),
    );
    db.exec(
      `CREATE VIRTUAL TABLE IF NOT EXISTS ${this.#table} USING fts5(t, content='', contentless_delete=1, detail=none, tokenize=ascii)`,
    );
    this.#insert = new Statement(db, `INSERT INTO ${this.#table} (rowid, t) VALUES (?, ?)`);
    this.#delete = new Statement(db, `DELETE FROM ${this.#table} WHERE rowid = ?`);
    this.#last = new Statement(db, `SELECT rowid AS r FROM ${this.#table} ORDER BY rowid DESC LIMIT 1`);
    this.#documents = new Statement(db, `SELECT r, d FROM ${documents} WHERE r > ? ORDER BY r LIMIT ${BATCH}`);
    this.#document = new Statement(db, `SELECT r, d FROM ${documents} WHERE r = ?`);
    this.#rows = new Statement(db, `SELECT r FROM ${documents} WHERE r > ? ORDER BY r LIMIT ${BACKLOG_MAX + 1}`);
    this.#find = new Statement(
      db,
      `SELECT rowid AS r FROM ${this.#table} WHERE ${this.#table} MATCH ? AND rowid > ? AND rowid <= ? LIMIT ?`,
    );
    this.#sample = new Statement(
      db,
      `SELECT count(*) AS n, min(r) AS r FROM (SELECT rowid AS r FROM ${this.#table} WHERE ${this.#table} MATCH ? ORDER BY rowid DESC LIMIT ${ROWS_SAMPLED})`,
    );
    this.recall();
  }

  /** After a rollback: rereads how far documents are indexed. */
  recall(): void {
    this.#through = Number(this.#last.get()?.r ?? 0);
  }

  /** To be called after a document was inserted: indexes it with others that were, sooner or later. */
  inserted(row: number): void {
    if (row <= this.#through + BATCH) return;
    const next = this.#documents.all(this.#through) as RawRow[];
    for (const one of next) this.#index(one);
    this.#through = next.at(-1)?.r ?? this.#through;
  }

  /** To be called after a document was changed. */
  changed(row: number): void {
    if (row > this.#through) return;
    this.#delete.run(row);
    this.#index(this.#document.get(row) as RawRow);
  }

  removed(row: number): void {
    if (row <= this.#through) this.#delete.run(row);
  }

  /** The rows that are not indexed yet, which may contain every part; null: too many. */
  unindexed(): number[] | null {
    const rows = this.#rows.all(this.#through) as Pick<RawRow, 'r'>[];
    return rows.length > BACKLOG_MAX ? null : rows.map(({ r }) => r);
  }

  /** The last row that is indexed. */
  get through(): number {
    return this.#through;
  }

  /** A question for texts that contain `part`, of documents with this prefix; null: the part is too short. */
  question(prefix: Uint8Array, part: string): PartQuestion | null {
    const scope = scopeOf(prefix);
    const all = Array.from(gramsOf(part), (gram) => scope + gram);
    if (all.length === 0) return null;
    const judged = evenly(all, GRAMS_SAMPLED).map((term) => ({ term, rows: this.#rowsWith(term) }));
    const rarest = judged.toSorted((one, other) => one.rows - other.rows).slice(0, GRAMS_SEARCHED);
    const match = `(${rarest.map(({ term }) => term).join(' AND ')}) OR ${scope}${LONG}`;
    return { match, rows: rarest[0]!.rows };
  }

  /** How many rows have a term, if it is as frequent among all rows as among the last. */
  #rowsWith(term: string): number {
    const { n = 0, r = 0 } = this.#sample.get(term) as { n: number; r: number | null };
    if (n < ROWS_SAMPLED) return n;
    return (n * this.#through) / (this.#through - r! + 1);
  }

  /** The rows above `after`, up to `to`, that answer a question; at most `most`. */
  find({ match }: PartQuestion, after: number, to: number, most: number): number[] {
    return (this.#find.all(match, after, to, most) as Pick<RawRow, 'r'>[]).map(({ r }) => r);
  }

  drop(db: DatabaseSync): void {
    db.exec(`DROP TABLE ${this.#table}`);
  }

  #index({ r, d }: RawRow): void {
    // Deserializing a batch of addresses of 32 KB would take tens of milliseconds, and nothing is read of them.
    const isLong = textBytesAt(d, this.#segments) > TEXT_LENGTH_MAX * BYTES_OF_CHARACTER;
    const fields = fromBytes(pickFields(d, isLong ? this.#neededOfLong : this.#needed));
    const prefixes = indexEntries(this.#spec, fields).keys.map(({ bytes, counted }) => bytes.subarray(0, counted));
    const scopes = new Set(prefixes.map(scopeOf));
    const texts = indexedValues(fields, this.#segments).values.filter((value) => typeof value === 'string');
    const grams = new Set(texts.flatMap((text) => (text.length > TEXT_LENGTH_MAX ? [LONG] : [...gramsOf(text)])));
    if (isLong) grams.add(LONG);
    this.#insert.run(r, [...scopes].flatMap((scope) => Array.from(grams, (gram) => scope + gram)).join(' '));
  }
}

/** The term of texts that are too long. No gram has this length. */
const LONG = 'long';

/** The first characters of the terms for documents with this prefix. */
const scopeOf = (prefix: Uint8Array): string => hash('sha1', prefix).slice(0, 12);

/** At most `most` of them, from all parts of the list. */
function evenly<T>(all: T[], most: number): T[] {
  const count = Math.min(all.length, most);
  return Array.from({ length: count }, (_, at) => all[Math.floor((at * all.length) / count)]!);
}

/** Each three characters of a text that are all of ASCII, as six hexadecimal digits. */
function gramsOf(text: string): Set<string> {
  const bytes = Buffer.from(text.replaceAll(NOT_ASCII, '\0').toLowerCase(), 'latin1');
  const grams = new Set<string>();
  // Where the last three characters begin after the last one that is not of ASCII.
  for (let [at, from] = [0, 0]; at < bytes.length; at++) {
    if (bytes[at] === 0) from = at + 1;
    else if (at - from + 1 >= GRAM) grams.add(bytes.toString('hex', at - GRAM + 1, at + 1));
  }
  return grams;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII
const NOT_ASCII = /[^\x01-\x7f]/g;
