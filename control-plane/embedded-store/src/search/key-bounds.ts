import { type Condition, hasOperators } from '../filters/filter-conditions.ts';
import { type KeyRange, successor } from '../indexes/key-range.ts';
import { KeyWriter } from '../values/key-writer.ts';
import { writeComponent } from '../values/sort-order.ts';
import { TAG, tagOf } from '../values/value-key.ts';

type Direction = 1 | -1;

/** The values a component must have, as the bytes that encode them in a key. */
export type Points = { condition: Condition; keys: Buffer[] };

/** A condition that names the values of a component: `$eq`, or `$in`. Null if there is none that an index can serve. */
export function pointsOf(here: readonly Condition[], direction: Direction, sparse: boolean): Points | null {
  for (const condition of here) {
    const values = valuesOf(condition);
    if (!values?.every((value) => isPoint(value, sparse))) continue;
    const keys = values.map((value) => componentKey(value, direction));
    return { condition, keys: [...new Map(keys.map((key) => [key.toString('latin1'), key])).values()] };
  }
  return null;
}

function valuesOf({ operator, value }: Condition): unknown[] | null {
  if (operator === '$eq') return [value];
  return operator === '$in' && Array.isArray(value) ? value : null;
}

/**
 * An array equals both itself and an element; a pattern is no value; a sparse index has no entries for missing fields.
 */
function isPoint(value: unknown, sparse: boolean): boolean {
  const tag = tagOf(value);
  if (tag === TAG.array || tag === TAG.regex || hasOperators(value)) return false;
  return !(sparse && tag === TAG.null);
}

function componentKey(value: unknown, direction: Direction): Buffer {
  const writer = new KeyWriter();
  writeComponent(writer, value, direction);
  return writer.bytes();
}

const LOWER = new Set(['$gt', '$gte']);
const UPPER = new Set(['$lt', '$lte']);
const COMPARABLE: ReadonlySet<number> = new Set([
  ...[TAG.number, TAG.string, TAG.binary, TAG.objectId, TAG.boolean, TAG.date],
]);

/** The range of a component, given the key of the components before it. */
export type Bounds = { conditions: Condition[]; after: (prefix: Uint8Array) => KeyRange };

type End = { bytes: Buffer; inclusive: boolean };

/**
 * The bounds that `$gt $gte $lt $lte` set. In an array, one element may satisfy one bound and another element the
 * other, so only one bound is used there.
 */
export function boundsOf(here: readonly Condition[], direction: Direction, isArray: boolean): Bounds | null {
  const lower = here.find((condition) => LOWER.has(condition.operator) && isComparable(condition.value));
  const upper = here.find(
    ({ operator, value }) =>
      UPPER.has(operator) && isComparable(value) && (!lower || tagOf(value) === tagOf(lower.value)),
  );
  const conditions = [lower, upper].flatMap((condition) => condition ?? []).slice(0, isArray ? 1 : 2);
  if (conditions.length === 0) return null;
  const tag = tagOf(conditions[0]?.value);
  const from = end(lower, direction) ?? smallestOf(tag, direction);
  const to = end(conditions.includes(upper!) ? upper : undefined, direction) ?? largestOf(tag, direction);
  return { conditions, after: (prefix) => (direction > 0 ? between(prefix, from, to) : between(prefix, to, from)) };
}

/** NaN is in no range except its own. */
const isComparable = (value: unknown): boolean => COMPARABLE.has(tagOf(value)) && !Number.isNaN(value);

function end(condition: Condition | undefined, direction: Direction): End | null {
  if (!condition) return null;
  return { bytes: componentKey(condition.value, direction), inclusive: condition.operator.endsWith('e') };
}

function smallestOf(tag: number, direction: Direction): End {
  if (tag === TAG.number) return { bytes: componentKey(Number.NEGATIVE_INFINITY, direction), inclusive: true };
  return largestOf(tag, direction);
}

/** All values of a type start with its tag: the end of the type is the tag itself, as an inclusive start. */
function largestOf(tag: number, direction: Direction): End {
  return { bytes: Buffer.of(direction > 0 ? tag : tag ^ 0xff), inclusive: true };
}

function between(prefix: Uint8Array, from: End, to: End): KeyRange {
  const start = Buffer.concat([prefix, from.bytes]);
  const stop = Buffer.concat([prefix, to.bytes]);
  return {
    from: from.inclusive ? start : successor(start),
    to: to.inclusive ? successor(stop) : stop,
  };
}
