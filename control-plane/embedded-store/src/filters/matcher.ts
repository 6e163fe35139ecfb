import { CODE, refusal } from '../refusals.ts';
import type { Fields } from '../stored-document.ts';
import { isFields, splitPath, valuesAt } from '../values/path-values.ts';
import { type Condition, type Conditions, hasOperators, partsOf } from './filter-conditions.ts';
import { compared, equalTo, type LeafTest, matching, oneOf } from './leaf-tests.ts';

export type Matcher = (fields: Fields) => boolean;

/** A query operator: compiled once for a path and an operand. Throws (BadValue) on an operand of another type. */
type Operator = (path: string, operand: unknown) => Matcher;

const toList = (operand: unknown): unknown[] => {
  if (!Array.isArray(operand)) throw refusal(CODE.badValue, 'a list is needed');
  return operand;
};

/** True if a value at the path passes; arrays are tested as a whole. */
const someWhole =
  (test: (operand: unknown) => LeafTest): Operator =>
  (path, operand) => {
    const segments = splitPath(path);
    const passes = test(operand);
    return (fields) => valuesAt(fields, segments).some(passes);
  };

/** True if a value at the path, or an element of an array there, passes. */
const some = (test: (operand: unknown) => LeafTest): Operator =>
  someWhole((operand) => {
    const passes = test(operand);
    return (value) => passes(value) || (Array.isArray(value) && value.some(passes));
  });

const none =
  (operator: Operator): Operator =>
  (path, operand) => {
    const matches = operator(path, operand);
    return (fields) => !matches(fields);
  };

const $eq = some(equalTo);
const $in = some(oneOf);
const $elemMatch = someWhole((operand) => {
  const passes = elementTest(operand);
  return (value) => Array.isArray(value) && value.some(passes);
});

const $exists: Operator = (path, wanted) => {
  const segments = splitPath(path);
  return (fields) => valuesAt(fields, segments).some((value) => value !== undefined) === Boolean(wanted);
};

const $all: Operator = (path, operand) => {
  const tests = toList(operand).map((item) =>
    isFields(item) && '$elemMatch' in item ? $elemMatch(path, item.$elemMatch) : $in(path, [item]),
  );
  return (fields) => tests.length > 0 && tests.every((test) => test(fields));
};

/** The operators on a field that a filter may use. Values compare as their index keys do, in MongoDB's order. */
const FIELD_OPERATORS: Readonly<Record<string, Operator>> = {
  $eq,
  $in,
  $ne: none($eq),
  $nin: none($in),
  $lt: some((operand) => compared(operand, (order) => order < 0)),
  $lte: some((operand) => compared(operand, (order) => order <= 0)),
  $gt: some((operand) => compared(operand, (order) => order > 0)),
  $gte: some((operand) => compared(operand, (order) => order >= 0)),
  $exists,
  $all,
  $elemMatch,
  $size: someWhole((size) => (value) => Array.isArray(value) && value.length === size),
};

/** Compiles a filter. Throws (BadValue) on an operator that is unknown or has another operand than it takes. */
export function matcherOf(filter: Fields): Matcher {
  return allOf(partsOf(filter));
}

function allOf({ conditions, others }: Conditions): Matcher {
  const tests = [...conditions.map(testOf), ...others.map(testOfOther)];
  return (fields) => tests.every((test) => test(fields));
}

function testOf({ path, operator, value }: Condition): Matcher {
  const compile = Object.hasOwn(FIELD_OPERATORS, operator) ? FIELD_OPERATORS[operator] : undefined;
  if (!compile) throw refusal(CODE.badValue, `unknown operator: ${operator}`);
  return compile(path, value);
}

/** A test of `$or`, or of a pattern with its options. */
function testOfOther(part: Fields): Matcher {
  const tests = Object.entries(part).map(([name, value]) => {
    if (name === '$or') return anyOf(value);
    if (name.startsWith('$')) throw refusal(CODE.badValue, `unknown top level operator: ${name}`);
    return patternTest(name, value);
  });
  return (fields) => tests.every((test) => test(fields));
}

function anyOf(branches: unknown): Matcher {
  if (!Array.isArray(branches) || branches.length === 0 || !branches.every(isFields)) {
    throw refusal(CODE.badValue, '$or needs a list of filters');
  }
  const tests = branches.map((branch) => allOf(partsOf(branch)));
  return (fields) => tests.some((test) => test(fields));
}

const $regex = some((pattern) => matching(pattern as RegExp));

/** A regular expression, or `$regex` with its `$options` and other operators beside it. */
function patternTest(path: string, value: unknown): Matcher {
  const { $regex: _, $options: __, ...others } = value instanceof RegExp ? {} : (value as Fields);
  const found = $regex(path, patternIn(value));
  const tests = Object.entries(others).map(([operator, operand]) => testOf({ path, operator, value: operand }));
  return (fields) => found(fields) && tests.every((test) => test(fields));
}

/** The expression of a condition that is one or has one as its `$regex`. */
export function patternIn(value: unknown): RegExp {
  if (value instanceof RegExp) return value;
  const { $regex: pattern, $options: options } = value as Fields;
  return regularExpression(pattern, options);
}

function regularExpression(pattern: unknown, options: unknown): RegExp {
  const [source, flags] = pattern instanceof RegExp ? [pattern.source, pattern.flags] : [pattern, ''];
  const chosen = options ?? flags;
  if (typeof source !== 'string' || typeof chosen !== 'string') {
    throw refusal(CODE.badValue, '$regex and $options need texts');
  }
  if (source.includes('\0')) {
    throw refusal(CODE.badValue, 'Regular expression cannot contain an embedded null byte');
  }
  try {
    return new RegExp(source, chosen);
  } catch (cause) {
    throw Object.assign(refusal(CODE.badValue, String(cause)), { cause });
  }
}

const ASKS_OF_ARRAYS = new Set(['$size', '$all', '$elemMatch']);

/** A test of one element of an array: as a document where the condition names fields, else as a value. */
export function elementTest(condition: unknown): LeafTest {
  if (!hasOperators(condition) || Object.keys(condition).every((name) => ['$and', '$or'].includes(name))) {
    const matches = matcherOf(condition as Fields);
    return (element) => isFields(element) && matches(element);
  }
  const matches = matcherOf({ element: condition });
  const asksOfArrays = Object.keys(condition).some((name) => ASKS_OF_ARRAYS.has(name));
  // An element that is itself an array is tested as a whole, not element by element.
  return (element) => matches({ element: Array.isArray(element) && !asksOfArrays ? [element] : element });
}
