import { type Condition, type Conditions, filterOf } from './filter-conditions.ts';
import { EVERY_KEY, type IndexTable, type KeyRange } from './index-table.ts';
import { boundsOf, pointsOf, startingWith } from './key-bounds.ts';
import type { Component } from './sort-order.ts';
import type { Fields } from './stored-document.ts';

/** How a question is answered: which part of which index is read, in which direction, and what is left to test. */
export type Plan = {
  index: IndexTable;
  /** In the order of their keys, not overlapping. */
  ranges: KeyRange[];
  reverse: boolean;
  /** The index gives the wished order. */
  sorted: boolean;
  /** What the index does not answer; null when it answers all. */
  rest: Fields | null;
};

/** What is asked: what must hold, in which order, and how many documents will be read at most. */
export type Question = Conditions & { order: readonly Component[]; most: number };

/** Counting further than this to find out which index is best costs more than it saves. */
const COUNTED_ENTRIES = 512;

/** The best index for a question; null: read everything, in the order it came. */
export function planFor(indexes: readonly IndexTable[], question: Question): Plan | null {
  const plans = indexes.flatMap((index) => planWith(index, question) ?? []);
  if (plans.length < 2) return plans[0] ?? null;
  return plans.find(findsOne) ?? cheapest(plans, question);
}

function findsOne({ index, ranges, rest }: Plan): boolean {
  return index.spec.name === '_id_' && ranges.length === 1 && ranges[0] !== EVERY_KEY && rest === null;
}

/** Entries to read, counted no further than what is known to be dearer; the rest is the price of a sort and of tests. */
function cheapest(plans: readonly Plan[], { most }: Question): Plan {
  let best = { plan: plans[0]!, cost: Number.POSITIVE_INFINITY };
  for (const plan of plans.toSorted((left, right) => extraWork(left) - extraWork(right))) {
    const wanted = extraWork(plan) === 0 ? most : Number.POSITIVE_INFINITY;
    const entries = plan.index.count(plan.ranges, Math.min(COUNTED_ENTRIES, wanted, Math.ceil(best.cost)));
    const cost = entries + extraWork(plan);
    if (cost < best.cost) best = { plan, cost };
  }
  return best.plan;
}

/** Less than one entry, so that it makes a difference only where the entries are as many. */
function extraWork({ sorted, rest }: Plan): number {
  return (sorted ? 0 : 0.5) + (rest === null ? 0 : 0.25);
}

function planWith(index: IndexTable, question: Question): Plan | null {
  const { ranges, used, fixed } = reachOf(index, question.conditions);
  const direction = directionFor(index, fixed, question.order);
  const servesOrder = direction !== null && question.order.length > 0 && !index.spec.sparse;
  if (used.size === 0 && !servesOrder) return null;
  const conditions = question.conditions.filter((condition) => !used.has(condition));
  return {
    index,
    ranges,
    reverse: direction === -1,
    sorted: direction !== null,
    rest: filterOf({ conditions, others: question.others }),
  };
}

/** The part of an index that conditions lead to: `fixed` components have one value in all of it. */
type Reach = { ranges: KeyRange[]; used: Set<Condition>; fixed: Set<number> };

/** So many places of an index are looked up for `$in`; a longer list is tested document by document. */
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
  return { ranges: inOrder(prefixes.map(startingWith)), used, fixed };
}

/** The first component without a value: it may have bounds, and there the index ends to be of use. */
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
  return { ranges: inOrder(prefixes.map((prefix) => bounds?.after(prefix) ?? startingWith(prefix))), used };
}

/** Also leaves out ranges that hold nothing, such as above 5 and below 3. */
function inOrder(ranges: KeyRange[]): KeyRange[] {
  const filled = ranges.filter(({ from, to }) => Buffer.compare(from, to) < 0);
  return filled.sort((left, right) => Buffer.compare(left.from, right.from));
}

/** Which way to read the index so that it gives `order`: 1, -1, or null when it cannot. */
function directionFor(index: IndexTable, fixed: ReadonlySet<number>, order: readonly Component[]): 1 | -1 | null {
  const { components } = index.spec;
  const isFixed = (path: string): boolean =>
    components.some((part, position) => part.path === path && fixed.has(position) && !index.isArrayAt(position));
  let way: 1 | -1 | null = null;
  let at = 0;
  for (const wanted of order) {
    if (isFixed(wanted.path)) continue;
    while (fixed.has(at)) at += 1;
    const part = components[at];
    if (part?.path !== wanted.path || index.isArrayAt(at)) return null;
    const wayHere = part.direction === wanted.direction ? 1 : -1;
    if (way !== null && way !== wayHere) return null;
    way = wayHere;
    at += 1;
  }
  return way ?? 1;
}
