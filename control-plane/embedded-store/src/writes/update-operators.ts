import { Decimal128, Long } from 'mongodb';
import { elementTest } from '../filters/matcher.ts';
import { CODE, refusal } from '../refusals.ts';
import { isFields } from '../values/path-values.ts';
import { compareValues, sameValue } from '../values/value-key.ts';
import type { UpdatedField } from './updated-field.ts';

/** Changes one field of a document. `path` appears in error messages. */
export type UpdateOperator = (field: UpdatedField, operand: unknown, path: string) => void;

type Numeric = number | Long;

function numeric(value: unknown, path: string): Numeric {
  if (typeof value === 'number' || value instanceof Long) return value;
  const kind = value instanceof Decimal128 ? 'a Decimal128' : 'a value of non-numeric type';
  throw refusal(CODE.typeMismatch, `Cannot apply arithmetic to ${kind} at '${path}'`);
}

/** A sum: 64-bit if either operand is; throws on overflow. */
function sum(left: Numeric, right: Numeric, path: string): Numeric {
  if (typeof left === 'number' && typeof right === 'number') return left + right;
  if (![left, right].every((side) => side instanceof Long || Number.isInteger(side)))
    return Number(left) + Number(right);
  const exact = BigInt(left.toString()) + BigInt(right.toString());
  if (exact !== BigInt.asIntN(64, exact)) throw refusal(CODE.badValue, `the number at '${path}' would overflow`);
  return Long.fromBigInt(exact);
}

const $inc: UpdateOperator = (field, operand, path) => {
  const by = numeric(operand, path);
  const before = field.get();
  field.set(before === undefined ? by : sum(numeric(before, path), by, path));
};

const extreme =
  (sign: 1 | -1): UpdateOperator =>
  (field, operand) => {
    const before = field.get();
    if (before === undefined || compareValues(operand, before) * sign > 0) field.set(operand);
  };

function arrayAt(field: UpdatedField, path: string): unknown[] | undefined {
  const value = field.get();
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

const $push: UpdateOperator = (field, operand, path) => {
  field.set([...(arrayAt(field, path) ?? []), ...itemsOf(operand)]);
};

const $addToSet: UpdateOperator = (field, operand, path) => {
  const after = [...(arrayAt(field, path) ?? [])];
  for (const item of itemsOf(operand)) if (!after.some((present) => sameValue(present, item))) after.push(item);
  field.set(after);
};

const $pull: UpdateOperator = (field, operand, path) => {
  const before = arrayAt(field, path);
  if (!before) return;
  const isRemoved = removedBy(operand);
  field.set(before.filter((element) => !isRemoved(element)));
};

function removedBy(operand: unknown): (element: unknown) => boolean {
  if (isFields(operand)) return elementTest(operand);
  if (operand instanceof RegExp) return elementTest({ $regex: operand });
  return (element) => sameValue(element, operand);
}

/** The supported update operators. */
export const UPDATE_OPERATORS: Readonly<Record<string, UpdateOperator>> = {
  $set: (field, operand) => field.set(operand),
  $setOnInsert: (field, operand) => field.set(operand),
  $unset: (field) => field.unset(),
  $inc,
  $min: extreme(-1),
  $max: extreme(1),
  $push,
  $addToSet,
  $pull,
};
