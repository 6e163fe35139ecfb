import { type Condition, type Conditions, filterOf, partsOf } from '../filters/filter-conditions.ts';
import type { IndexTable } from '../indexes/index-table.ts';
import { type KeyRange, startingWith } from '../indexes/key-range.ts';
import type { PartIndex } from '../indexes/part-index.ts';
import type { Fields } from '../stored-document.ts';
import type { Component } from '../values/sort-order.ts';
import { type EntryTest, entryTestOf, type Skip, skipOf } from './entry-test.ts';
import { boundsOf, pointsOf } from './key-bounds.ts';
import type { Part } from './sorted-entries.ts';

/** How a search runs: the index, the ranges and direction to read, and the filter that remains to be tested. */
export type Plan = {
  index: IndexTable;
  /** In the order of their keys, not overlapping. */
  ranges: KeyRange[];
  reverse: boolean;
  /** The index gives the requested order. */
  sorted: boolean;
  /**
   * The part of the filter that the index does not answer; null if it answers all. `others`: its clauses and patterns.
   */
  rest: Fields | null;
  others: Fields[];
  /** The part of `rest` that is tested on index entries before their documents are read; null if there is none. */
  entryTest: EntryTest | null;
  /** Which entries of the ranges are passed over; null: none. */
  skip: Skip | null;
  /** The values of the first fields, and whether the index answers more conditions than these. */
  points: Points;
  bounded: boolean;
  /** No document has two entries in the ranges. */
  isOnce: boolean;
  /** The conditions that the index answers. */
  answered: ReadonlySet<Condition>;
  /**
   * The documents are those with an entry in some part of each of these lists, whose parts are each in the requested
   * order. Null: only the ranges of the index have the order, or the index does not have it.
   */
  lists: Part[][] | null;
};

/** The values of the first `depth` fields of an index, one key for each combination. */
type Points = { depth: number; keys: Buffer[] };

/** A search: its conditions, its order, and the most documents that will be read. */
export type Question = Conditions & { order: readonly Component[]; most: number };

/** Counting beyond this to compare indexes costs more than it saves. */
const COUNTED_ENTRIES = 1000;
/** Ranges are as many as a filter names values: to count in each of thousands would take longer than to read them. */
const COUNTED_RANGES = 200;
/** More than any index holds: a plan of last resort, unless it needs no sort and no test. */
const UNKNOWN_ENTRIES = 1e12;

/** The best plan for a search; null: read every document in insertion order. */
export function planFor(indexes: readonly IndexTable[], question: Question): Plan | null {
  const byKey = planByKey(indexes, question);
  if (byKey) return byKey;
  const leading = leadingPaths(question);
  const useful = indexes.filter(({ spec }) => leading.has(spec.components[0]!.path));
  const plans = useful.flatMap((index) => planWith(index, question) ?? []);
  const best = plans.length < 2 ? plans[0] : cheapest(plans, question);
  return best ? joined(best, useful, question) : null;
}

/**
 * The first fields of the indexes that may serve a search: of its order, and of its conditions, also in branches of an
 * `$or`.
 */
function leadingPaths({ conditions, others, order }: Question): ReadonlySet<string> {
  const branches = others.flatMap(({ $or }) =>
    Array.isArray($or) ? $or.flatMap((one) => partsOf(one).conditions) : [],
  );
  const first = order[0] ? [order[0].path] : [];
  return new Set([...first, ...[...conditions, ...branches].map(({ path }) => path)]);
}

/** More lists cost more than the tests that they save. */
const MOST_LISTS = 8;

/**
 * Adds lists of entries for conditions that the plan would test on documents: where other entries with the same values
 * are in the same order, both lists are read in parallel, and only documents that are in both.
 */
function joined(best: Plan, indexes: readonly IndexTable[], question: Question): Plan {
  if (!best.lists || best.rest === null || isFewByKey(best)) return best;
  const lists = [...best.lists];
  const answered = new Set(best.answered);
  for (const wanted of question.conditions) {
    if (lists.length === MOST_LISTS) break;
    if (answered.has(wanted) || !NAMES_VALUES.has(wanted.operator)) continue;
    // Of the conditions for an array, each may hold for another element: the index answers one of them.
    const conditions = question.conditions.filter((one) => one === wanted || one.path !== wanted.path);
    const other = indexes
      .flatMap((index) => planWith(index, { ...question, conditions }) ?? [])
      .find((plan) => plan.answered.has(wanted) && isParallel(plan, best));
    if (!other?.lists) continue;
    lists.push(...other.lists);
    for (const one of other.answered) answered.add(one);
  }
  if (lists.length === 1) return best;
  const conditions = question.conditions.filter((one) => !answered.has(one));
  return { ...best, lists, answered, rest: filterOf({ conditions, others: best.others }), entryTest: null };
}

/** So few documents, each named by its key, are read and tested faster than other entries with them. */
const FEW_BY_KEY = 32;

const isFewByKey = ({ index: { spec }, points }: Plan): boolean =>
  spec.unique === true && points.depth === spec.components.length && points.keys.length <= FEW_BY_KEY;

const NAMES_VALUES = new Set(['$eq', '$in']);

/** Whether the parts of two plans have the same order, and identify a document by the same bytes. */
function isParallel(plan: Plan, other: Plan): boolean {
  const orderOf = ({ index, points }: Plan) =>
    JSON.stringify(index.spec.components.slice(points.depth).map(({ path, direction }) => [path, direction]));
  return plan.lists !== null && plan.reverse === other.reverse && orderOf(plan) === orderOf(other);
}

/** A unique index with a value for each of its fields finds at most one document, so no other index is considered. */
function planByKey(indexes: readonly IndexTable[], question: Question): Plan | null {
  const named = new Set(question.conditions.map(({ path }) => path));
  const candidates = indexes.filter(({ spec }) => spec.unique && spec.components.every(({ path }) => named.has(path)));
  for (const index of candidates) {
    const plan = planWith(index, question);
    if (plan && plan.points.keys.length === 1 && plan.points.depth === index.spec.components.length) return plan;
  }
  return null;
}

/** The number of documents that a counted index has for a search; null if no index counts it. */
export function countedBy(indexes: readonly IndexTable[], conditions: Conditions): number | null {
  for (const index of indexes) {
    const plan = index.counts && planWith(index, { ...conditions, order: [], most: 0 });
    if (!index.counts || !plan || plan.bounded || plan.rest !== null || !plan.isOnce) continue;
    if (plan.points.depth === index.spec.countedPrefix) return index.counts.sum(plan.points.keys);
  }
  return null;
}

/** The index that finds parts of a text, for the documents that conditions select, and the key of their prefix. */
export type PartsSearch = { index: IndexTable; parts: PartIndex; prefix: Buffer; path: string };

/** Where a pattern among the conditions asks for a text whose parts an index finds. */
export function partsSearches(indexes: readonly IndexTable[], { conditions, others }: Conditions): PartsSearch[] {
  return indexes.flatMap((index) => {
    const { partsOf: path = '', countedPrefix } = index.spec;
    if (!index.parts || !others.some((other) => path in other)) return [];
    const { depth, keys } = reachOf(index, conditions).points;
    const [prefix] = keys;
    return prefix && depth === countedPrefix && keys.length === 1 ? [{ index, parts: index.parts, prefix, path }] : [];
  });
}

/**
 * The cost of a plan: the entries to read, counted up to the cost of the best plan so far, plus the cost of a sort and
 * of tests.
 */
function cheapest(plans: readonly Plan[], { most }: Question): Plan {
  const ordered = plans.toSorted((left, right) => extraWork(left) - extraWork(right));
  let best = { plan: ordered[0]!, cost: Number.POSITIVE_INFINITY };
  for (const plan of ordered) {
    if (best.cost <= extraWork(plan)) break;
    const wanted = extraWork(plan) === 0 ? most : Number.POSITIVE_INFINITY;
    const cost = entriesToRead(plan, Math.min(wanted, Math.ceil(best.cost))) + extraWork(plan);
    if (cost < best.cost) best = { plan, cost };
  }
  return best.plan;
}

/**
 * How many entries a plan reads, counted up to `most`, of many ranges by the first of them; for many entries, the
 * index's own counters.
 */
function entriesToRead({ index, ranges, points }: Plan, most: number): number {
  const limit = Math.min(most, COUNTED_ENTRIES);
  const counted = ranges.slice(0, COUNTED_RANGES);
  const entries = Math.ceil((index.count(counted, limit) * ranges.length) / Math.max(counted.length, 1));
  if (entries < limit || limit === most) return entries;
  const isCounted = index.counts && points.depth === index.spec.countedPrefix;
  return isCounted ? Math.min(most, Math.max(entries, index.counts.sum(points.keys))) : UNKNOWN_ENTRIES;
}

/** Less than one entry: it decides only between plans that read the same number. */
function extraWork({ sorted, rest }: Plan): number {
  return (sorted ? 0 : 0.5) + (rest === null ? 0 : 0.25);
}

function planWith(index: IndexTable, question: Question): Plan | null {
  const reach = reachOf(index, question.conditions);
  const byOr = narrowedByOr(index, question, reach);
  const { ranges: parts, used, others } = byOr ?? { ...reach, others: question.others };
  const { fixed, points } = reach;
  const inTurn = directionFor(index, fixed, fixed, question.order);
  const side = inTurn ?? directionFor(index, fixed, new Set(Array(points.depth).keys()), question.order);
  const servesOrder = side !== null && question.order.length > 0 && !index.spec.sparse;
  if (used.size === 0 && !servesOrder) return null;
  const conditions = question.conditions.filter((condition) => !used.has(condition));
  const isOrdered = side !== null && (points.keys.length === 1 || inTurn === null || question.order.length === 0);
  // With an array among the other fields, a document has several entries in a part.
  const isInParts = isOrdered && index.arraysAreIn(Array(points.depth).keys());
  return {
    index,
    ranges: merged(parts),
    reverse: side === -1,
    sorted: side !== null,
    rest: filterOf({ conditions, others }),
    others,
    answered: used,
    entryTest: entryTestOf(index, { conditions, others }),
    skip: reach.bounded ? skipOf(index, points.depth, conditions) : null,
    points,
    bounded: byOr !== null || reach.bounded,
    isOnce: index.arraysAreIn(fixed),
    lists: isInParts ? [partsFor(index, points.keys, parts)] : null,
  };
}

/** The ranges that begin with each of the prefixes, none of which is the beginning of another. */
function partsFor(index: IndexTable, prefixes: Buffer[], ranges: KeyRange[]): Part[] {
  const ordered = inOrder(ranges);
  let at = 0;
  return prefixes.toSorted(Buffer.compare).map((prefix) => {
    const here: KeyRange[] = [];
    for (; at < ordered.length; at += 1) {
      const range = ordered[at]!;
      if (prefix.equals(range.from.subarray(0, prefix.length))) here.push(range);
      else if (Buffer.compare(range.from, prefix) > 0) break;
    }
    return { index, prefix, ranges: merged(here) };
  });
}

/**
 * An `$or` whose every branch names a part of the index leads to these parts together: a page after (created_at, _id)
 * is `$or: [{ created_at: { $lt } }, { created_at, _id: { $lt } }]`.
 */
function narrowedByOr(
  index: IndexTable,
  { conditions, others }: Conditions,
  base: Reach,
): (Pick<Reach, 'ranges' | 'used'> & { others: Fields[] }) | null {
  for (const other of others) {
    if (!Array.isArray(other.$or) || other.$or.length > MOST_BRANCHES) continue;
    const branches = other.$or.map(partsOf);
    const reaches = branches.map((branch) => reachOf(index, [...branch.conditions, ...conditions]));
    if (!branches.every((branch, at) => branch.conditions.some((one) => reaches[at]!.used.has(one)))) continue;
    const isAnswered = branches.every(
      (branch, at) => branch.others.length === 0 && branch.conditions.every((one) => reaches[at]!.used.has(one)),
    );
    return {
      ranges: reaches.flatMap(({ ranges }) => ranges),
      used: new Set([...base.used].filter((one) => reaches.every(({ used }) => used.has(one)))),
      others: isAnswered ? others.filter((one) => one !== other) : others,
    };
  }
  return null;
}

const MOST_BRANCHES = 20;

/** The ranges of an index that conditions select; `fixed` components have the same value in all of them. */
type Reach = {
  ranges: KeyRange[];
  used: Set<Condition>;
  fixed: Set<number>;
  points: Points;
  bounded: boolean;
};

/** The most ranges that `$in` may select; a longer list is tested document by document. */
const MOST_POINTS = 1000;

function reachOf(index: IndexTable, conditions: readonly Condition[]): Reach {
  const { components, sparse } = index.spec;
  const used = new Set<Condition>();
  const fixed = new Set<number>();
  let prefixes: Buffer[] = [Buffer.alloc(0)];
  for (const [at, { path, direction }] of components.entries()) {
    const here = conditions.filter((condition) => condition.path === path);
    const points = pointsOf(here, direction, sparse);
    if (!points || prefixes.length * points.keys.length > MOST_POINTS) {
      return { ...beyond(index, at, prefixes, here, used), fixed };
    }
    used.add(points.condition);
    prefixes = prefixes.flatMap((prefix) => points.keys.map((key) => Buffer.concat([prefix, key])));
    if (prefixes.length === 1) fixed.add(at);
  }
  const points = { depth: components.length, keys: prefixes };
  return { ranges: inOrder(prefixes.map(startingWith)), used, fixed, points, bounded: false };
}

/** The first component without a value: it may have bounds; components after it cannot narrow the range. */
function beyond(
  index: IndexTable,
  at: number,
  prefixes: Buffer[],
  here: readonly Condition[],
  used: Set<Condition>,
): Omit<Reach, 'fixed'> {
  const { components, sparse } = index.spec;
  const bounds = boundsOf(here, components[at]!.direction, index.isArrayAt(at));
  for (const condition of bounds?.conditions ?? []) used.add(condition);
  if (sparse && components.length === 1) {
    // It holds just the documents that have the field.
    for (const condition of here) if (condition.operator === '$exists' && condition.value) used.add(condition);
  }
  const ranges = inOrder(prefixes.map((prefix) => bounds?.after(prefix) ?? startingWith(prefix)));
  return { ranges, used, points: { depth: at, keys: prefixes }, bounded: bounds !== null };
}

/** Joins overlapping ranges. */
function merged(ranges: KeyRange[]): KeyRange[] {
  const apart: KeyRange[] = [];
  for (const range of inOrder(ranges)) {
    const last = apart.at(-1);
    if (!last || Buffer.compare(range.from, last.to) > 0) apart.push({ ...range });
    else if (Buffer.compare(range.to, last.to) > 0) last.to = range.to;
  }
  return apart;
}

/** Also drops empty ranges, such as above 5 and below 3. */
function inOrder(ranges: KeyRange[]): KeyRange[] {
  const filled = ranges.filter(({ from, to }) => Buffer.compare(from, to) < 0);
  return filled.sort((left, right) => Buffer.compare(left.from, right.from));
}

/**
 * Which way to read the index so that it gives `order`: 1, -1, or null when it cannot. `passed` are the components that
 * have one value in each part of the index that is read, `fixed` those that have the same in all of them.
 */
function directionFor(
  index: IndexTable,
  fixed: ReadonlySet<number>,
  passed: ReadonlySet<number>,
  order: readonly Component[],
): 1 | -1 | null {
  const { components } = index.spec;
  const isFixed = (path: string): boolean =>
    components.some((part, position) => part.path === path && fixed.has(position) && !index.isArrayAt(position));
  let way: 1 | -1 | null = null;
  let at = 0;
  for (const wanted of order) {
    if (isFixed(wanted.path)) continue;
    while (passed.has(at)) at += 1;
    const part = components[at];
    if (part?.path !== wanted.path || index.isArrayAt(at)) return null;
    const wayHere = part.direction === wanted.direction ? 1 : -1;
    if (way !== null && way !== wayHere) return null;
    way = wayHere;
    at += 1;
  }
  return way ?? 1;
}
