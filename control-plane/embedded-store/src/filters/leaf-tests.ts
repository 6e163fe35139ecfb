import { CODE, refusal } from '../refusals.ts';
import { compareValues, keyOf, TAG, tagOf } from '../values/value-key.ts';
import { literalTest } from './literal-pattern.ts';

/** Whether one value satisfies an operator. */
export type LeafTest = (value: unknown) => boolean;

const isNumberOrText = (value: unknown): boolean => typeof value === 'string' || typeof value === 'number';

/** `$eq`: null also matches a missing field. */
export function equalTo(wanted: unknown): LeafTest {
  if (typeof wanted === 'string' || typeof wanted === 'boolean') return (value) => value === wanted;
  const tag = tagOf(wanted);
  if (tag === TAG.null) return (value) => value === null || value === undefined;
  if (typeof wanted === 'number') return (value) => tagOf(value) === tag && compareValues(value, wanted) === 0;
  const key = keyOf(wanted);
  return (value) => tagOf(value) === tag && keyOf(value).equals(key);
}

/** `$in`: one lookup for all texts and numbers, one test for each other value. */
export function oneOf(wanted: unknown): LeafTest {
  if (!Array.isArray(wanted)) throw refusal(CODE.badValue, '$in needs a list');
  const plain = new Set(wanted.filter(isNumberOrText));
  const tests = wanted
    .filter((value) => typeof value !== 'string')
    .map((value) => (value instanceof RegExp ? matching(value) : equalTo(value)));
  return (value) => plain.has(value) || tests.some((test) => test(value));
}

/** `$lt` and the like: a value of another type is neither above nor below; NaN equals only NaN. */
export function compared(wanted: unknown, accepts: (order: number) => boolean): LeafTest {
  const tag = tagOf(wanted);
  const isNan = Number.isNaN(wanted);
  return (value) =>
    tagOf(value) === tag && Number.isNaN(value) === isNan && accepts(compareValues(value ?? null, wanted));
}

/** `$regex`. BSON reads the option `s` (dot matches all) back as `g`, which would make the expression stateful. */
export function matching(pattern: RegExp): LeafTest {
  const regex = pattern.global ? new RegExp(pattern.source, pattern.flags.replace('g', 's')) : pattern;
  const test = literalTest(regex) ?? ((text: string) => regex.test(text));
  return (value) =>
    typeof value === 'string' ? test(value) : value instanceof RegExp && value.source === regex.source;
}
