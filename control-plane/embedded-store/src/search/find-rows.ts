import { type Conditions, conditionsOf, filterOf } from '../filters/filter-conditions.ts';
import { type Matcher, matcherOf } from '../filters/matcher.ts';
import type { EntryPosition, KeyRange, StoredRow } from '../indexes/index-table.ts';
import type { Records } from '../storage/records.ts';
import { type Fields, fromBytes } from '../stored-document.ts';
import { type Component, sortKey } from '../values/sort-order.ts';
import type { EntryTest } from './entry-test.ts';
import { countedBy, type MergedPart, type Plan, planFor } from './plan.ts';

export type Window = { order?: readonly Component[]; skip?: number; limit?: number };
/** A document that was found, with its row and its stored bytes. */
export type Found = { row: number; bytes: Uint8Array; fields: Fields };

const ROWS_AT_ONCE = 128;
/** First page size of each merged range: most of it is left over when the result is full. */
const MERGED_ROWS_AT_ONCE = 16;
const ENTRIES_TESTED_AT_FIRST = 64;
const ENTRIES_COUNTED_AT_ONCE = 10_000;
const ENTRIES_TESTED_AT_ONCE = 512;

/** Called for each document that a search examines, with the plan. */
export type Examine = (plan: Plan | null) => void;

/** A search yields this between two pages of rows, when no statement is open, so that other work can run. */
export const PAUSE = null;
type Paused<T> = Generator<T | typeof PAUSE>;

function* examined(rows: Iterable<Candidate | null>, plan: Plan | null, examine: Examine): Paused<Candidate> {
  for (const row of rows) {
    if (row) examine(plan);
    yield row;
  }
}

/** The documents that match, in order, without a pause. `limit` 0 is no limit. */
export function* findRows(records: Records, filter: object, window: Window = {}, examine?: Examine): Generator<Found> {
  for (const found of search(records, filter, window, examine)) if (found) yield found;
}

/** The documents that match, in order, with pauses; nothing stays open between two of them. `limit` 0 is no limit. */
export function* search(
  records: Records,
  filter: object,
  window: Window = {},
  examine: Examine = () => {},
): Paused<Found> {
  const { order = [], skip = 0, limit = 0 } = window;
  const most = limit > 0 ? skip + limit : Number.POSITIVE_INFINITY;
  const conditions = conditionsOf(filter);
  const plan = planFor(records.indexes, { ...conditions, order, most });
  const rest = plan ? plan.rest : filterOf(conditions);
  const matches = rest && matcherOf(rest);
  const isSorted = plan ? plan.sorted : order.length === 0;
  const atMost = matches || !isSorted ? Number.POSITIVE_INFINITY : most;
  const rows = examined(plan ? indexRows(records, plan, atMost) : allRows(records, atMost), plan, examine);
  yield* windowOf(isSorted ? matching(rows, matches) : inOrder(records, matching(rows, matches), order), skip, limit);
}

/** How many documents match, with pauses; the return value is the number. Reads no document if the index decides. */
export function* countRows(records: Records, filter: object): Generator<typeof PAUSE, number> {
  const conditions: Conditions = conditionsOf(filter);
  if (filterOf(conditions) === null) return records.total;
  const counted = countedBy(records.indexes, conditions);
  if (counted !== null) return counted;
  const plan = planFor(records.indexes, { ...conditions, order: [], most: Number.POSITIVE_INFINITY });
  if (plan && plan.rest === null && plan.isOnce) return yield* countEntries(plan);
  if (plan?.entryTest?.rest === null && plan.isOnce) return yield* countTested(records, plan, plan.entryTest);
  let total = 0;
  for (const found of search(records, filter)) {
    if (found) total += 1;
    else yield PAUSE;
  }
  return total;
}

function* countEntries({ index, ranges }: Plan): Generator<typeof PAUSE, number> {
  let total = 0;
  for (const range of ranges) {
    let from: EntryPosition = { key: range.from, row: 0 };
    for (;;) {
      const further = index.entryAfter(from, range.to, ENTRIES_COUNTED_AT_ONCE);
      if (!further) break;
      total += ENTRIES_COUNTED_AT_ONCE;
      from = further;
      yield PAUSE;
    }
    total += index.countFrom(from, range.to);
  }
  return total;
}

/** Counts entries that pass; reads a document only if its entry does not decide. */
function* countTested(records: Records, plan: Plan, { passes }: EntryTest): Generator<typeof PAUSE, number> {
  const matches = matcherOf(plan.rest ?? {});
  const isMatch = ({ key, row }: EntryPosition): boolean =>
    passes(key) ?? storedAt(records, row).some(({ bytes }) => matches(fromBytes(bytes)));
  let total = 0;
  for (const entries of pagesOfEntries(plan)) {
    total += entries.filter(isMatch).length;
    yield PAUSE;
  }
  return total;
}

/** A row that is deserialized on first use, so that skipped rows never are. */
type Candidate = { row: number; bytes: Uint8Array; fields: () => Fields };

function candidate({ row, bytes }: StoredRow): Candidate {
  let read: Fields | undefined;
  return {
    row,
    bytes,
    fields: () => {
      read ??= fromBytes(bytes);
      return read;
    },
  };
}

function* indexRows(records: Records, plan: Plan, most: number): Paused<Candidate> {
  const seen = new Set<number>();
  for (const stored of storedRows(records, plan, most)) {
    if (stored && plan.index.isMultikey) {
      if (seen.has(stored.row)) continue;
      seen.add(stored.row);
    }
    yield stored && candidate(stored);
  }
}

function storedRows(records: Records, plan: Plan, most: number): Paused<StoredRow> {
  if (plan.merged) return mergedRows(plan, plan.merged);
  if (plan.entryTest) return testedRows(records, plan, plan.entryTest);
  return rowsIn(plan, plan.ranges, most, ROWS_AT_ONCE);
}

/** The documents whose entries pass or do not decide. */
function* testedRows(records: Records, plan: Plan, { passes }: EntryTest): Paused<StoredRow> {
  for (const entries of pagesOfEntries(plan)) {
    yield* entries.filter(({ key }) => passes(key) !== false).flatMap(({ row }) => storedAt(records, row));
    yield PAUSE;
  }
}

function storedAt(records: Records, row: number): StoredRow[] {
  const stored = records.get(row);
  return stored ? [stored] : [];
}

/** Small pages first: a short list may be full soon. */
function* pagesOfEntries({ index, ranges, reverse }: Plan): Generator<EntryPosition[]> {
  let count = ENTRIES_TESTED_AT_FIRST;
  for (const range of reverse ? ranges.toReversed() : ranges) {
    for (let after: EntryPosition | undefined; ; ) {
      const page = index.entries(range, reverse, after, count);
      yield page;
      if (page.length < count) break;
      after = page.at(-1);
      count = Math.min(count * 2, ENTRIES_TESTED_AT_ONCE);
    }
  }
}

type IndexRow = Required<StoredRow>;

function* rowsIn({ index, reverse }: Plan, ranges: KeyRange[], most: number, atOnce: number): Paused<IndexRow> {
  const count = Math.min(most, atOnce);
  for (const range of reverse ? ranges.toReversed() : ranges) {
    let after: EntryPosition | undefined;
    for (;;) {
      const page = index.page(range, reverse, after, count);
      yield* page;
      if (page.length < count) break;
      after = page.at(-1);
      yield PAUSE;
    }
  }
}

/** Merges several ranges of an index, each sorted after its prefix, into one sorted sequence. */
function* mergedRows(plan: Plan, parts: MergedPart[]): Paused<IndexRow> {
  const way = plan.reverse ? -1 : 1;
  const heads: { row: IndexRow; suffix: Uint8Array; rows: Paused<IndexRow>; prefixLength: number }[] = [];
  for (const { prefixLength, ranges } of parts) {
    const rows = rowsIn(plan, ranges, Number.POSITIVE_INFINITY, MERGED_ROWS_AT_ONCE);
    const row = nextOf(rows);
    if (row) heads.push({ row, suffix: row.key.subarray(prefixLength), rows, prefixLength });
  }
  for (let given = 1; heads.length > 0; given += 1) {
    const first = heads.reduce((one, other) => (compareHeads(one, other) * way <= 0 ? one : other));
    yield first.row;
    const row = nextOf(first.rows);
    if (row) Object.assign(first, { row, suffix: row.key.subarray(first.prefixLength) });
    else heads.splice(heads.indexOf(first), 1);
    if (given % ROWS_AT_ONCE === 0) yield PAUSE;
  }
}

function nextOf(rows: Paused<IndexRow>): IndexRow | null {
  for (;;) {
    const { done, value } = rows.next();
    if (done) return null;
    if (value) return value;
  }
}

type Head = { row: IndexRow; suffix: Uint8Array };
const compareHeads = (one: Head, other: Head): number =>
  Buffer.compare(one.suffix, other.suffix) || one.row.row - other.row.row;

function* allRows(records: Records, most: number): Paused<Candidate> {
  const count = Math.min(most, ROWS_AT_ONCE);
  for (let page = records.page(0, count); page.length > 0; page = records.page(page.at(-1)!.row, count)) {
    yield* page.map(candidate);
    yield PAUSE;
  }
}

function* matching(rows: Iterable<Candidate | null>, matches: Matcher | null): Paused<Candidate> {
  for (const row of rows) if (!row || !matches || matches(row.fields())) yield row;
}

/** Keeps keys, not documents, so that sorting a long list does not hold it in memory. */
function* inOrder(records: Records, rows: Iterable<Candidate | null>, order: readonly Component[]): Paused<Candidate> {
  const keys: { row: number; key: Buffer }[] = [];
  for (const found of rows) {
    if (found) keys.push({ row: found.row, key: sortKey(found.fields(), order) });
    else yield PAUSE;
  }
  keys.sort((left, right) => Buffer.compare(left.key, right.key));
  for (const { row } of keys) {
    const stored = records.get(row);
    if (stored) yield candidate(stored);
  }
}

function* windowOf(rows: Iterable<Candidate | null>, skip: number, limit: number): Paused<Found> {
  let position = 0;
  const end = limit > 0 ? skip + limit : Number.POSITIVE_INFINITY;
  if (end <= skip) return;
  for (const found of rows) {
    if (!found) {
      yield PAUSE;
      continue;
    }
    position += 1;
    if (position > skip) yield { row: found.row, bytes: found.bytes, fields: found.fields() };
    if (position >= end) return;
  }
}
