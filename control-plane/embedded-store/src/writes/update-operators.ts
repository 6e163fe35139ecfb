import { Decimal128, Long } from 'mongodb';
import { elementTest } from '../filters/matcher.ts';
import { CODE, refusal } from '../refusals.ts';
import { isFields } from '../values/path-values.ts';
import { compareValues, sameValue } from '../values/value-key.ts';
import type { Place } from './update-place.ts';

/** Changes one place of a document. `path` is for the words of a refusal. */
export type UpdateOperator = (place: Place, operand: unknown, path: string) => void;

type Numeric = number | Long;

function numeric(value: unknown, path: string): Numeric {
  if (typeof value === 'number' || value instanceof Long) return value;
  const kind = value instanceof Decimal128 ? 'a Decimal128' : 'a value of non-numeric type';
  throw refusal(CODE.typeMismatch, `Cannot apply arithmetic to ${kind} at '${path}'`);
}

/** A sum: 64-bit as soon as one side is, and refused where it would overflow. */
function sum(left: Numeric, right: Numeric, path: string): Numeric {
  if (typeof left === 'number' && typeof right === 'number') return left + right;
  if (![left, right].every((side) => side instanceof Long || Number.isInteger(side)))
    return Number(left) + Number(right);
  const exact = BigInt(left.toString()) + BigInt(right.toString());
  if (exact !== BigInt.asIntN(64, exact)) throw refusal(CODE.badValue, `the number at '${path}' would overflow`);
  return Long.fromBigInt(exact);
}

const $inc: UpdateOperator = (place, operand, path) => {
  const by = numeric(operand, path);
  const before = place.get();
  place.set(before === undefined ? by : sum(numeric(before, path), by, path));
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

/** The items of `{ $each: [...] }`, or the one value. Refuses modifiers beside `$each`. */
function itemsOf(operand: unknown): unknown[] {
  if (!isFields(operand) || !('$each' in operand)) return [operand];
  const { $each, ...modifiers } = operand;
  const [unknown] = Object.keys(modifiers);
  if (unknown) throw refusal(CODE.badValue, `unknown modifier ${unknown}`);
  if (!Array.isArray($each)) throw refusal(CODE.badValue, '$each needs a list');
  return $each;
}

const $push: UpdateOperator = (place, operand, path) => {
  place.set([...(arrayAt(place, path) ?? []), ...itemsOf(operand)]);
};

const $addToSet: UpdateOperator = (place, operand, path) => {
  const after = [...(arrayAt(place, path) ?? [])];
  for (const item of itemsOf(operand)) if (!after.some((present) => sameValue(present, item))) after.push(item);
  place.set(after);
};

const $pull: UpdateOperator = (place, operand, path) => {
  const before = arrayAt(place, path);
  if (!before) return;
  const isRemoved = removedBy(operand);
  place.set(before.filter((element) => !isRemoved(element)));
};

function removedBy(operand: unknown): (element: unknown) => boolean {
  if (isFields(operand)) return elementTest(operand);
  if (operand instanceof RegExp) return elementTest({ $regex: operand });
  return (element) => sameValue(element, operand);
}

/** Each operator of an update. */
export const UPDATE_OPERATORS: Readonly<Record<string, UpdateOperator>> = {
  $set: (place, operand) => place.set(operand),
  $setOnInsert: (place, operand) => place.set(operand),
  $unset: (place) => place.unset(),
  $inc,
  $min: extreme(-1),
  $max: extreme(1),
  $push,
  $addToSet,
  $pull,
};
