import { type Conditions, conditionsOf, filterOf, namesIn } from '../filters/filter-conditions.ts';
import { type Matcher, matcherOf } from '../filters/matcher.ts';
import type { EntryPosition, StoredRow } from '../indexes/index-table.ts';
import type { KeyRange } from '../indexes/key-range.ts';
import type { Records } from '../storage/records.ts';
import { type Fields, fromBytes } from '../stored-document.ts';
import { type FieldTree, pickFields, withWhole } from '../values/picked-fields.ts';
import { type Component, sortKey } from '../values/sort-order.ts';
import { countEntries } from './count-entries.ts';
import type { EntryTest } from './entry-test.ts';
import { rowsWithPart } from './part-rows.ts';
import { countedBy, type Plan, planFor } from './plan.ts';
import { joinedRows, type Part } from './sorted-entries.ts';

/** `shown`: the fields that the caller needs; absent: all of them. */
export type Window = {
  order?: readonly Component[];
  skip?: number;
  limit?: number;
  shown?: FieldTree | null;
};
/** A document that was found, with its row and its stored bytes. */
export type Found = { row: number; bytes: Uint8Array; fields: Fields };

const ROWS_AT_FIRST = 16;
const ROWS_AT_ONCE = 128;
/** Ranges, each of one value, may have no entries. */
const RANGES_AT_ONCE = 128;
/** Documents may be large: fewer of them are read at once. */
const BYTES_AT_ONCE = 512 * 1024;
const ENTRIES_TESTED_AT_FIRST = 32;
const ENTRIES_TESTED_AT_ONCE = 512;
/** Long texts take longer to test. */
const BYTES_TESTED_AT_ONCE = 128 * 1024;
/** Documents of many small fields take a millisecond for some kilobytes. */
const BYTES_EXAMINED_AT_ONCE = 32 * 1024;

/** Called for each document that a search examines, with the plan. */
export type Examine = (plan: Plan | null) => void;

/** A search yields this between two pages of rows, when no statement is open, so that other work can run. */
export const PAUSE = null;
type Paused<T> = Generator<T | typeof PAUSE>;

/** Counts the documents of a search, with pauses. */
function* examined(rows: Iterable<Candidate | null>, plan: Plan | null, examine: Examine): Paused<Candidate> {
  for (const row of withPauses(rows)) {
    if (row) examine(plan);
    yield row;
  }
}

/** Pauses after some documents: they may be large, and none may match or be shown. */
function* withPauses(rows: Iterable<Candidate | null>): Paused<Candidate> {
  let bytes = 0;
  for (const row of rows) {
    yield row;
    bytes = row ? bytes + row.bytes.length : 0;
    if (bytes < BYTES_EXAMINED_AT_ONCE) continue;
    bytes = 0;
    yield PAUSE;
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
  const { order = [], skip = 0, limit = 0, shown = null } = window;
  const most = limit > 0 ? skip + limit : Number.POSITIVE_INFINITY;
  const conditions = conditionsOf(filter);
  const plan = planFor(records.indexes, { ...conditions, order, most });
  // To compare indexes, it may have counted thousands of entries.
  yield PAUSE;
  const needed = shown && withWhole(shown, [...namesIn(conditions), ...order.map(({ segments }) => segments[0]!)]);
  const read: Read = (bytes) => fromBytes(needed ? pickFields(bytes, needed) : bytes);
  const whole = filterOf(conditions);
  // Other work may have changed a document since its entry was read, or since it was found and is to be put in order.
  const stillFound = (rows: Iterable<Candidate | null>) => matching(rows, whole && matcherOf(whole));
  const sorted = (found: Iterable<Candidate | null>) => stillFound(withPauses(inOrder(records, found, order, read)));
  const few = plan && (yield* rowsWithPart(records, conditions, plan));
  if (few) {
    const rows = examined(candidates(records, few, read), plan, examine);
    return yield* windowOf(sorted(stillFound(rows)), skip, limit);
  }
  // One statement reads the documents of one part with their entries, but would read those that are skipped too.
  if (plan?.lists && !plan.entryTest && (isJoined(plan.lists) || skip > 0)) {
    const skipped = plan.rest === null ? skip : 0;
    const rows = examined(listedRows(records, plan, plan.lists, skipped, read), plan, examine);
    return yield* windowOf(stillFound(rows), skip - skipped, limit);
  }
  const isReadByEntry = plan !== null && (plan.entryTest !== null || plan.skip !== null);
  const rest = plan && !isReadByEntry ? plan.rest : whole;
  const matches = rest && matcherOf(rest);
  const isSorted = plan ? plan.sorted : order.length === 0;
  const atMost = matches || !isSorted ? Number.POSITIVE_INFINITY : most;
  const all = plan ? indexRows(records, plan, atMost, read) : allRows(records, atMost, read);
  const rows = examined(all, plan, examine);
  const found = matching(rows, matches);
  yield* windowOf(isSorted ? found : sorted(found), skip, limit);
}

/** Whether a search reads more than one part of an index. */
const isJoined = (lists: Part[][]): boolean => lists.length > 1 || lists.some((parts) => parts.length > 1);

/** How many documents match, with pauses; the return value is the number. Reads no document if the index decides. */
export function* countRows(records: Records, filter: object): Generator<typeof PAUSE, number> {
  const conditions: Conditions = conditionsOf(filter);
  if (filterOf(conditions) === null) return records.total;
  const counted = countedBy(records.indexes, conditions);
  if (counted !== null) return counted;
  const plan = planFor(records.indexes, { ...conditions, order: [], most: Number.POSITIVE_INFINITY });
  if (plan?.rest === null && plan.isOnce && plan.lists?.length === 1) return yield* countParts(plan, plan.lists[0]!);
  if (plan?.lists && plan.rest === null && isJoined(plan.lists)) return yield* countListed(plan, plan.lists);
  if (plan && plan.rest === null && plan.isOnce) return yield* countEntries(plan.index, plan.ranges);
  const few = plan && (yield* rowsWithPart(records, conditions, plan));
  if (!few && plan?.entryTest?.rest === null && plan.isOnce) return yield* countTested(records, plan, plan.entryTest);
  let total = 0;
  for (const found of search(records, filter, { shown: new Map() })) {
    if (found) total += 1;
    else yield PAUSE;
  }
  return total;
}

function* countListed({ reverse }: Plan, lists: Part[][]): Generator<typeof PAUSE, number> {
  let total = 0;
  for (const row of joinedRows(lists, reverse, 0)) {
    if (row === PAUSE) yield PAUSE;
    else total += 1;
  }
  return total;
}

/** Counts what is in parts of an index, by its blocks where each part has the values by which the index counts. */
function* countParts({ index, points }: Plan, parts: Part[]): Generator<typeof PAUSE, number> {
  const { blocks } = index;
  const isInBlocks = points.depth >= (index.spec.countedPrefix ?? Number.POSITIVE_INFINITY);
  let total = 0;
  for (const range of parts.flatMap(({ ranges }) => ranges)) {
    const counted = blocks && isInBlocks ? blocks.countIn(range) : null;
    total += counted ? counted.count : yield* countEntries(index, [range]);
  }
  return total;
}

/** Counts entries that pass; reads a document only if its entry does not decide. */
function* countTested(records: Records, plan: Plan, { passes }: EntryTest): Generator<typeof PAUSE, number> {
  const matches = matcherOf(plan.rest ?? {});
  const isMatch = ({ key, row }: EntryPosition): boolean =>
    passes(key) ?? storedAt(records, row).some(({ bytes }) => matches(fromBytes(bytes)));
  let total = 0;
  for (const entry of entriesOf(plan)) {
    if (entry === PAUSE) yield PAUSE;
    else if (isMatch(entry)) total += 1;
  }
  return total;
}

type Read = (bytes: Uint8Array) => Fields;

/** A row that is deserialized on first use, so that skipped rows never are. */
type Candidate = { row: number; bytes: Uint8Array; fields: () => Fields };

function candidate({ row, bytes }: StoredRow, read: Read): Candidate {
  let fields: Fields | undefined;
  return {
    row,
    bytes,
    fields: () => {
      fields ??= read(bytes);
      return fields;
    },
  };
}

/** The documents of these rows. */
function* candidates(records: Records, rows: number[], read: Read): Paused<Candidate> {
  for (const row of rows) {
    const stored = records.get(row);
    if (stored) yield candidate(stored, read);
  }
}

/** The documents of lists of entries. */
function* listedRows(records: Records, plan: Plan, lists: Part[][], skip: number, read: Read): Paused<Candidate> {
  for (const row of joinedRows(lists, plan.reverse, skip)) {
    const stored = row === PAUSE ? undefined : records.get(row);
    if (stored) yield candidate(stored, read);
    else if (row === PAUSE) yield PAUSE;
  }
}

function* indexRows(records: Records, plan: Plan, most: number, read: Read): Paused<Candidate> {
  const seen = new Set<number>();
  const rows = plan.entryTest || plan.skip ? testedRows(records, plan) : rowsIn(plan, plan.ranges, most);
  for (const stored of rows) {
    if (stored && plan.index.isMultikey) {
      if (seen.has(stored.row)) continue;
      seen.add(stored.row);
    }
    yield stored && candidate(stored, read);
  }
}

/** The documents whose entries pass or do not decide. */
function* testedRows(records: Records, plan: Plan): Paused<StoredRow> {
  for (const entry of entriesOf(plan)) {
    if (entry === PAUSE) yield PAUSE;
    else if (plan.entryTest?.passes(entry.key) !== false) yield* storedAt(records, entry.row);
  }
}

function storedAt(records: Records, row: number): StoredRow[] {
  const stored = records.get(row);
  return stored ? [stored] : [];
}

/**
 * The entries of the ranges that are not passed over, with a pause after each page. Small pages first: a short list may
 * be full soon.
 */
function* entriesOf({ index, ranges, reverse, skip }: Plan): Paused<EntryPosition> {
  let count = ENTRIES_TESTED_AT_FIRST;
  for (let range of reverse ? ranges.toReversed() : ranges) {
    for (let after: EntryPosition | undefined; ; ) {
      const page = index.entries(range, reverse, after, count);
      let [bytes, paused] = [0, 0];
      let next: Uint8Array | null = null;
      for (const entry of page) {
        if (!next || isReached(next, entry, reverse)) {
          next = skip?.(entry.key, reverse) ?? null;
          if (!next) yield entry;
        }
        bytes += entry.key.length;
        if (bytes < paused + BYTES_TESTED_AT_ONCE) continue;
        paused = bytes;
        yield PAUSE;
      }
      yield PAUSE;
      if (page.length < count) break;
      after = next ? undefined : page.at(-1);
      if (next) [range, count] = [from(next, range, reverse), ENTRIES_TESTED_AT_FIRST];
      else count = Math.min(count * 2, ENTRIES_TESTED_AT_ONCE, fitting(BYTES_AT_ONCE, page.length, bytes));
    }
  }
}

/** Whether an entry is at or beyond a place from which entries go on, in the order of reading. */
const isReached = (next: Uint8Array, { key }: EntryPosition, reverse: boolean): boolean =>
  reverse ? Buffer.compare(key, next) < 0 : Buffer.compare(key, next) >= 0;

/** What is left of a range from a place on, in the order of reading. */
const from = (next: Uint8Array, range: KeyRange, reverse: boolean): KeyRange =>
  reverse ? { ...range, to: next } : { ...range, from: next };

/** How many things fit into a size, judged by those that were read last. */
const fitting = (size: number, count: number, bytes: number): number =>
  Math.max(1, Math.floor((size * count) / Math.max(1, bytes)));

function* rowsIn({ index, reverse }: Plan, ranges: KeyRange[], most: number): Paused<StoredRow> {
  let count = Math.min(most, ROWS_AT_FIRST);
  for (const [at, range] of (reverse ? ranges.toReversed() : ranges).entries()) {
    if (at % RANGES_AT_ONCE === RANGES_AT_ONCE - 1) yield PAUSE;
    let after: EntryPosition | undefined;
    for (;;) {
      const page = index.page(range, reverse, after, count);
      yield* page;
      if (page.length < count) break;
      after = page.at(-1);
      count = nextCount(page, count, most);
      yield PAUSE;
    }
  }
}

const nextCount = (page: StoredRow[], count: number, most: number): number =>
  Math.min(count * 2, most, ROWS_AT_ONCE, fitting(BYTES_AT_ONCE, page.length, bytesIn(page)));
const bytesIn = (page: StoredRow[]): number => page.reduce((sum, { bytes }) => sum + bytes.length, 0);

function* allRows(records: Records, most: number, read: Read): Paused<Candidate> {
  let count = Math.min(most, ROWS_AT_FIRST);
  for (let page = records.page(0, count); page.length > 0; page = records.page(page.at(-1)!.row, count)) {
    yield* page.map((stored) => candidate(stored, read));
    count = nextCount(page, count, most);
    yield PAUSE;
  }
}

function* matching(rows: Iterable<Candidate | null>, matches: Matcher | null): Paused<Candidate> {
  for (const row of rows) if (!row || !matches || matches(row.fields())) yield row;
}

/** Keeps keys, not documents, so that sorting a long list does not hold it in memory. */
function* inOrder(
  records: Records,
  rows: Iterable<Candidate | null>,
  order: readonly Component[],
  read: Read,
): Paused<Candidate> {
  const keys: { row: number; key: Buffer }[] = [];
  for (const found of rows) {
    if (found) keys.push({ row: found.row, key: sortKey(found.fields(), order) });
    else yield PAUSE;
  }
  keys.sort((left, right) => Buffer.compare(left.key, right.key));
  for (const { row } of keys) {
    const stored = records.get(row);
    if (stored) yield candidate(stored, read);
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
