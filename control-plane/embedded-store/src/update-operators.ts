import { Decimal128, Long, type Sort } from 'mongodb';
import { hasOperators } from './filter-conditions.ts';
import { elementTest } from './matcher.ts';
import { isFields } from './path-values.ts';
import { CODE, refusal } from './refusals.ts';
import { sortComponents, sortKey } from './sort-order.ts';
import type { Place } from './update-place.ts';
import { compareValues, sameValue } from './value-key.ts';

/** Changes one place of a document. `path` is for the words of a refusal. */
export type UpdateOperator = (place: Place, operand: unknown, path: string) => void;

type Numeric = number | Long;

function numeric(value: unknown, path: string): Numeric {
  if (typeof value === 'number' || value instanceof Long) return value;
  const kind = value instanceof Decimal128 ? 'a Decimal128' : 'a value of non-numeric type';
  throw refusal(CODE.typeMismatch, `Cannot apply arithmetic to ${kind} at '${path}'`);
}

/** A sum or product: 64-bit as soon as one side is, and refused where it would overflow. */
function calculate(kind: 'add' | 'multiply', left: Numeric, right: Numeric, path: string): Numeric {
  if (typeof left === 'number' && typeof right === 'number') return kind === 'add' ? left + right : left * right;
  if (![left, right].every((side) => side instanceof Long || Number.isInteger(side))) {
    const sides = [Number(left), Number(right)] as const;
    return kind === 'add' ? sides[0] + sides[1] : sides[0] * sides[1];
  }
  const [first, second] = [BigInt(left.toString()), BigInt(right.toString())];
  const exact = kind === 'add' ? first + second : first * second;
  if (exact !== BigInt.asIntN(64, exact)) throw refusal(CODE.badValue, `the number at '${path}' would overflow`);
  return Long.fromBigInt(exact);
}

const arithmetic =
  (kind: 'add' | 'multiply'): UpdateOperator =>
  (place, operand, path) => {
    const by = numeric(operand, path);
    const before = place.get();
    if (before === undefined) place.set(kind === 'add' ? by : 0);
    else place.set(calculate(kind, numeric(before, path), by, path));
  };

const extreme =
  (sign: 1 | -1): UpdateOperator =>
  (place, operand) => {
    const before = place.get();
    if (before === undefined || compareValues(operand, before) * sign > 0) place.set(operand);
  };

function arrayAt(place: Place, path: string): unknown[] | undefined {
  const value = place.get();
  if (value === undefined || Array.isArray(value)) return value;
  throw refusal(CODE.badValue, `the field '${path}' must be an array`);
}

function listOf(value: unknown, name: string): unknown[] {
  if (Array.isArray(value)) return value;
  throw refusal(CODE.badValue, `${name} needs a list`);
}

function integer(value: unknown, name: string): number {
  if (Number.isInteger(value)) return value as number;
  throw refusal(CODE.badValue, `${name} needs a whole number`);
}

/** Reads `{ $each, ...modifiers }`, or one value. Refuses a modifier that is not known. */
function eachOf(operand: unknown, ...modifiers: string[]): { items: unknown[]; modifiers: Record<string, unknown> } {
  if (!isFields(operand) || !('$each' in operand)) return { items: [operand], modifiers: {} };
  const { $each, ...rest } = operand;
  const unknown = Object.keys(rest).find((name) => !modifiers.includes(name));
  if (unknown) throw refusal(CODE.badValue, `unknown modifier ${unknown}`);
  return { items: listOf($each, '$each'), modifiers: rest };
}

const $push: UpdateOperator = (place, operand, path) => {
  const { items, modifiers } = eachOf(operand, '$slice', '$sort', '$position');
  const before = arrayAt(place, path) ?? [];
  const at = modifiers.$position === undefined ? before.length : integer(modifiers.$position, '$position');
  const joined = before.toSpliced(at, 0, ...items);
  const sorted = modifiers.$sort === undefined ? joined : inOrder(joined, modifiers.$sort);
  place.set(modifiers.$slice === undefined ? sorted : sliced(sorted, integer(modifiers.$slice, '$slice')));
};

function inOrder(items: unknown[], order: unknown): unknown[] {
  if (order === 1 || order === -1) return items.toSorted((left, right) => compareValues(left, right) * order);
  const components = sortComponents(order as Sort);
  const keyed = items.map((item) => ({ item, key: sortKey(isFields(item) ? item : {}, components) }));
  return keyed.sort((left, right) => Buffer.compare(left.key, right.key)).map(({ item }) => item);
}

/** The first `count` elements, or the last ones where it is negative. */
const sliced = (items: unknown[], count: number): unknown[] => (count < 0 ? items.slice(count) : items.slice(0, count));

const $addToSet: UpdateOperator = (place, operand, path) => {
  const { items } = eachOf(operand);
  const after = [...(arrayAt(place, path) ?? [])];
  for (const item of items) if (!after.some((present) => sameValue(present, item))) after.push(item);
  place.set(after);
};

const removing =
  (testFor: (operand: unknown) => (element: unknown) => boolean): UpdateOperator =>
  (place, operand, path) => {
    const before = arrayAt(place, path);
    if (!before) return;
    const isRemoved = testFor(operand);
    place.set(before.filter((element) => !isRemoved(element)));
  };

const $pull = removing((operand) => {
  if (isFields(operand) || hasOperators(operand)) return elementTest(operand);
  if (operand instanceof RegExp) return elementTest({ $regex: operand });
  return (element) => sameValue(element, operand);
});

const $pullAll = removing((operand) => {
  const unwanted = listOf(operand, '$pullAll');
  return (element) => unwanted.some((value) => sameValue(value, element));
});

const $pop: UpdateOperator = (place, operand, path) => {
  if (operand !== 1 && operand !== -1) throw refusal(CODE.badValue, '$pop takes 1 or -1');
  const before = arrayAt(place, path);
  if (before) place.set(operand === 1 ? before.slice(0, -1) : before.slice(1));
};

/** Each operator of an update but `$rename`, which has two places. */
export const UPDATE_OPERATORS: Readonly<Record<string, UpdateOperator>> = {
  $set: (place, operand) => place.set(operand),
  $setOnInsert: (place, operand) => place.set(operand),
  $unset: (place) => place.unset(),
  $inc: arithmetic('add'),
  $mul: arithmetic('multiply'),
  $min: extreme(-1),
  $max: extreme(1),
  $push,
  $addToSet,
  $pull,
  $pullAll,
  $pop,
};
