import { Context } from 'mingo/core';
import * as accumulator from 'mingo/operators/accumulator';
import * as expression from 'mingo/operators/expression';
import * as pipeline from 'mingo/operators/pipeline';
import * as query from 'mingo/operators/query';
import * as window from 'mingo/operators/window';
import { Query } from 'mingo/query';
import type { ExpressionOperator, QueryOperator } from 'mingo/types';
import { MongoError } from 'mongodb';
import { CODE, refusal } from '../refusals.ts';
import type { Fields } from '../stored-document.ts';
import { isFields, splitPath, valuesAt } from '../values/path-values.ts';
import { $dateToString } from './date-to-string.ts';
import { type Condition, type Conditions, hasOperators, partsOf } from './filter-conditions.ts';
import { compared, equalTo, type LeafTest, matching, oneOf } from './leaf-tests.ts';

export type Matcher = (fields: Fields) => boolean;

/** A query operator as mingo takes it: compiled once for a path and an operand. */
type Operator = (path: string, operand: unknown) => Matcher;

const toList = (operand: unknown): unknown[] => {
  if (!Array.isArray(operand)) throw refusal(CODE.badValue, 'a list is needed');
  return operand;
};

/** Some value at the path, or some element of an array there, passes. */
const some =
  (test: (operand: unknown) => LeafTest): Operator =>
  (path, operand) => {
    const segments = splitPath(path);
    const passes = test(operand);
    const passesAny: LeafTest = (value) => passes(value) || (Array.isArray(value) && value.some(passes));
    return (fields) => valuesAt(fields, segments).some(passesAny);
  };

/** Some value at the path, arrays whole, passes. */
const someWhole =
  (test: (operand: unknown) => LeafTest): Operator =>
  (path, operand) => {
    const segments = splitPath(path);
    const passes = test(operand);
    return (fields) => valuesAt(fields, segments).some(passes);
  };

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

/**
 * What mingo leaves to its own idea of order and of paths is answered here by MongoDB's: values compare as their index
 * keys do. mingo compiles pipelines, and of filters what is left.
 */
const LEAF_OPERATORS: Readonly<Record<`$${string}`, Operator>> = {
  $eq,
  $in,
  $ne: none($eq),
  $nin: none($in),
  $lt: some((operand) => compared(operand, (order) => order < 0)),
  $lte: some((operand) => compared(operand, (order) => order <= 0)),
  $gt: some((operand) => compared(operand, (order) => order > 0)),
  $gte: some((operand) => compared(operand, (order) => order >= 0)),
  $regex: some((operand) => matching(operand as RegExp)),
  $exists,
  $all,
  $elemMatch,
  $size: someWhole((size) => (value) => Array.isArray(value) && value.length === size),
};

const { $and, $or } = query;
const { $out, $merge, $documents, ...reading } = pipeline;

/** mingo types an operator as the intersection of all its own ones, which no function is. */
const leafOperators = LEAF_OPERATORS as unknown as Record<`$${string}`, QueryOperator>;

/** All that a filter or a pipeline may use: it reads, and runs no script. */
export const MINGO_OPTIONS = {
  context: Context.init({
    query: { $and, $or, ...leafOperators },
    expression: { ...expression, $dateToString: $dateToString as ExpressionOperator },
    accumulator,
    window,
    pipeline: reading,
  }),
  scriptEnabled: false,
};

/** Compiles a filter. Throws (BadValue) on an operator that is unknown or has no such operand. */
export function matcherOf(filter: Fields): Matcher {
  return asRefusal(() => allOf(partsOf(filter)));
}

/** Filters are mostly fields with operators of ours: those need no compiler. */
function allOf({ conditions, others }: Conditions): Matcher {
  const tests = [...conditions.map(testOf), ...others.map(testOfOther)];
  return (fields) => tests.every((test) => test(fields));
}

function testOf({ path, operator, value }: Condition): Matcher {
  const own = Object.hasOwn(LEAF_OPERATORS, operator) ? LEAF_OPERATORS[operator as `$${string}`] : undefined;
  return own ? own(path, value) : compiledByMingo({ [path]: { [operator]: value } });
}

function testOfOther(part: Fields): Matcher {
  const branches: unknown = part.$or;
  if (!Array.isArray(branches) || branches.length === 0 || !branches.every(isFields)) return compiledByMingo(part);
  const tests = branches.map((branch) => allOf(partsOf(branch)));
  return (fields) => tests.some((test) => test(fields));
}

function compiledByMingo(filter: Fields): Matcher {
  const compiled = new Query(filter, MINGO_OPTIONS);
  return (fields) => compiled.test(fields);
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
  // An element that is itself an array is asked as it is, not element by element.
  return (element) => matches({ element: Array.isArray(element) && !asksOfArrays ? [element] : element });
}

/** mingo speaks in errors of its own; what it says of a filter is what a server says with BadValue. */
export function asRefusal<T>(run: () => T): T {
  try {
    return run();
  } catch (error) {
    if (error instanceof MongoError) throw error;
    throw refusal(CODE.badValue, error instanceof Error ? error.message : String(error));
  }
}
