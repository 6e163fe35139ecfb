import { CODE, refusal } from '../refusals.ts';
import { refuseUndefined } from '../refuse-undefined.ts';
import { asStored, type Fields } from '../stored-document.ts';
import { isFields } from '../values/path-values.ts';

/** A condition on one field: `{ path: { operator: value } }`. */
export type Condition = { path: string; operator: string; value: unknown };
/** A filter as conditions that must all hold; `others` are `$or` clauses and patterns, unchanged. */
export type Conditions = { conditions: Condition[]; others: Fields[] };

/**
 * Splits a filter into its top-level conditions. Refuses `undefined` and `__proto__`, which would change its meaning.
 */
export function conditionsOf(filter: object): Conditions {
  refuseUndefined(filter);
  return partsOf(asStored(filter));
}

/** Splits a part of such a filter, such as a branch of `$or`. */
export function partsOf(filter: Fields): Conditions {
  const found: Conditions = { conditions: [], others: [] };
  collect(filter, found);
  return found;
}

function collect(filter: Fields, found: Conditions): void {
  for (const [name, value] of Object.entries(filter)) {
    refusePrototype(value);
    if (name === '$and') for (const part of clauses(value)) collect(part, found);
    else if (name.startsWith('$') || isPattern(value)) found.others.push({ [name]: value });
    else if (hasOperators(value)) {
      for (const [operator, operand] of Object.entries(value)) {
        found.conditions.push({ path: name, operator, value: operand });
      }
    } else found.conditions.push({ path: name, operator: '$eq', value });
  }
}

function clauses(value: unknown): Fields[] {
  if (!Array.isArray(value) || value.length === 0 || !value.every(isFields)) {
    throw refusal(CODE.badValue, '$and and $or need a list of filters');
  }
  return value;
}

/** A pattern, which is kept together with its options. */
const isPattern = (value: unknown): boolean => value instanceof RegExp || (isFields(value) && '$regex' in value);

export function hasOperators(value: unknown): value is Fields {
  return isFields(value) && Object.keys(value).some((name) => name.startsWith('$'));
}

function refusePrototype(value: unknown): void {
  if (Array.isArray(value)) value.forEach(refusePrototype);
  else if (isFields(value)) {
    if (Object.hasOwn(value, '__proto__')) throw refusal(CODE.badValue, '__proto__ in a filter');
    Object.values(value).forEach(refusePrototype);
  }
}

/** The top-level fields that a filter looks at. */
export function namesIn({ conditions, others }: Conditions): string[] {
  const ofOthers = others.flatMap((other) =>
    Object.entries(other).flatMap(([name, value]) =>
      name.startsWith('$') ? clauses(value).flatMap((part) => namesIn(partsOf(part))) : [topOf(name)],
    ),
  );
  return [...conditions.map(({ path }) => topOf(path)), ...ofOthers];
}

const topOf = (path: string): string => path.split('.', 1)[0]!;

/** Joins conditions into one filter; null if there are none. */
export function filterOf({ conditions, others }: Conditions): Fields | null {
  const parts = [...conditions.map(({ path, operator, value }) => ({ [path]: { [operator]: value } })), ...others];
  return parts.length > 0 ? { $and: parts } : null;
}
