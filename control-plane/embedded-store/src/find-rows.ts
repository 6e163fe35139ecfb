import { type Conditions, conditionsOf, filterOf } from './filter-conditions.ts';
import type { Place, StoredRow } from './index-table.ts';
import { type Matcher, matcherOf } from './matcher.ts';
import { countedBy, type Plan, planFor } from './plan.ts';
import type { Records } from './records.ts';
import { type Component, sortKey } from './sort-order.ts';
import { type Fields, fromBytes } from './stored-document.ts';

export type Window = { order?: readonly Component[]; skip?: number; limit?: number };
/** A document that was found, with the row it lies in, and as it lies there. */
export type Found = { row: number; bytes: Uint8Array; fields: Fields };

const ROWS_AT_ONCE = 128;

/** Is told of each document that a search looks at, and by which plan. */
export type Examine = (plan: Plan | null) => void;

function* examined(rows: Iterable<Candidate>, plan: Plan | null, examine: Examine): Generator<Candidate> {
  for (const row of rows) {
    examine(plan);
    yield row;
  }
}

/** The documents that match, in order; nothing stays open between two of them. `limit` 0 is no limit. */
export function* findRows(
  records: Records,
  filter: object,
  window: Window = {},
  examine: Examine = () => {},
): Generator<Found> {
  const { order = [], skip = 0, limit = 0 } = window;
  const most = limit > 0 ? skip + limit : Number.POSITIVE_INFINITY;
  const conditions = conditionsOf(filter);
  const plan = planFor(records.indexes, { ...conditions, order, most });
  const rest = plan ? plan.rest : filterOf(conditions);
  const matches = rest && matcherOf(rest);
  const isSorted = plan ? plan.sorted : order.length === 0;
  const atMost = matches || !isSorted ? Number.POSITIVE_INFINITY : most;
  const rows = examined(plan ? indexRows(plan, atMost) : allRows(records, atMost), plan, examine);
  yield* windowOf(isSorted ? matching(rows, matches) : inOrder(records, matching(rows, matches), order), skip, limit);
}

/** How many documents match. Reads no document where the index knows. */
export function countRows(records: Records, filter: object): number {
  const conditions: Conditions = conditionsOf(filter);
  if (filterOf(conditions) === null) return records.total;
  const counted = countedBy(records.indexes, conditions);
  if (counted !== null) return counted;
  const plan = planFor(records.indexes, { ...conditions, order: [], most: Number.POSITIVE_INFINITY });
  if (plan && plan.rest === null && !plan.index.isMultikey) {
    return plan.index.count(plan.ranges, Number.MAX_SAFE_INTEGER);
  }
  return findRows(records, filter).reduce((count) => count + 1, 0);
}

/** A row that is turned into a document when somebody looks at it: those that are skipped never are. */
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

function* indexRows({ index, ranges, reverse }: Plan, most: number): Generator<Candidate> {
  const seen = new Set<number>();
  for (const range of reverse ? ranges.toReversed() : ranges) {
    let after: Place | undefined;
    for (;;) {
      const count = Math.min(most, ROWS_AT_ONCE);
      const page = index.page(range, reverse, after, count);
      for (const stored of page) {
        if (index.isMultikey) {
          if (seen.has(stored.row)) continue;
          seen.add(stored.row);
        }
        yield candidate(stored);
      }
      if (page.length < count) break;
      after = page.at(-1);
    }
  }
}

function* allRows(records: Records, most: number): Generator<Candidate> {
  const count = Math.min(most, ROWS_AT_ONCE);
  for (let page = records.page(0, count); page.length > 0; page = records.page(page.at(-1)!.row, count)) {
    yield* page.map(candidate);
  }
}

function* matching(rows: Iterable<Candidate>, matches: Matcher | null): Generator<Candidate> {
  for (const row of rows) if (!matches || matches(row.fields())) yield row;
}

/** Keeps keys, not documents: a long list is sorted without being held. */
function* inOrder(records: Records, rows: Iterable<Candidate>, order: readonly Component[]): Generator<Candidate> {
  const keys = Array.from(rows, ({ row, fields }) => ({ row, key: sortKey(fields(), order) }));
  keys.sort((left, right) => Buffer.compare(left.key, right.key));
  for (const { row } of keys) {
    const stored = records.get(row);
    if (stored) yield candidate(stored);
  }
}

function* windowOf(rows: Iterable<Candidate>, skip: number, limit: number): Generator<Found> {
  let position = 0;
  const end = limit > 0 ? skip + limit : Number.POSITIVE_INFINITY;
  if (end <= skip) return;
  for (const { row, bytes, fields } of rows) {
    position += 1;
    if (position > skip) yield { row, bytes, fields: fields() };
    if (position >= end) return;
  }
}
