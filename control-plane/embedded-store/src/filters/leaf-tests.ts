import { CODE, refusal } from '../refusals.ts';
import { compareValues, keyOf, TAG, tagOf } from '../values/value-key.ts';

/** Whether one value is what an operator asks for. */
export type LeafTest = (value: unknown) => boolean;

const isNumberOrText = (value: unknown): boolean => typeof value === 'string' || typeof value === 'number';

/** `$eq`: null is also a field that is missing. */
export function equalTo(wanted: unknown): LeafTest {
  if (typeof wanted === 'string' || typeof wanted === 'boolean') return (value) => value === wanted;
  const tag = tagOf(wanted);
  if (tag === TAG.null) return (value) => value === null || value === undefined;
  if (typeof wanted === 'number') return (value) => tagOf(value) === tag && compareValues(value, wanted) === 0;
  const key = keyOf(wanted);
  return (value) => tagOf(value) === tag && keyOf(value).equals(key);
}

/** `$in`: one look-up for texts and numbers, one test each for the rest. */
export function oneOf(wanted: unknown): LeafTest {
  if (!Array.isArray(wanted)) throw refusal(CODE.badValue, '$in needs a list');
  const plain = new Set(wanted.filter(isNumberOrText));
  const tests = wanted
    .filter((value) => typeof value !== 'string')
    .map((value) => (value instanceof RegExp ? matching(value) : equalTo(value)));
  return (value) => plain.has(value) || tests.some((test) => test(value));
}

/** `$lt` and the like: a value of another type is neither above nor below; NaN is only ever equal to NaN. */
export function compared(wanted: unknown, accepts: (order: number) => boolean): LeafTest {
  const tag = tagOf(wanted);
  const isNan = Number.isNaN(wanted);
  return (value) =>
    tagOf(value) === tag && Number.isNaN(value) === isNan && accepts(compareValues(value ?? null, wanted));
}

/** `$regex`. A stored pattern says `s` (dot matches all) as `g`, which would also remember where it stopped. */
export function matching(pattern: RegExp): LeafTest {
  const regex = pattern.global ? new RegExp(pattern.source, pattern.flags.replace('g', 's')) : pattern;
  return (value) =>
    typeof value === 'string' ? regex.test(value) : value instanceof RegExp && value.source === regex.source;
}
