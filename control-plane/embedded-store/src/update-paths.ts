import { type Conditions, filterOf } from './filter-conditions.ts';
import { matcherOf } from './matcher.ts';
import { splitPath, valuesAt } from './path-values.ts';
import { CODE, refusal } from './refusals.ts';
import type { Fields } from './stored-document.ts';

/** Says which elements of the array at `array` a wildcard of an update means, by position. */
type Choice = (fields: Fields, array: readonly string[], items: readonly unknown[]) => number[];

/** What the wildcards `$`, `$[]` and `$[name]` of an update stand for. */
export type Wildcards = { choose: (wildcard: string) => Choice };

const EVERY = '$[]';
const FIRST = '$';
const NAMED = /^\$\[([a-z]\w*)\]$/;

/**
 * Reads the filters of an update. Throws on a name that no path uses (a misspelt name would change nothing) or that no
 * filter explains.
 */
export function wildcardsOf(paths: readonly string[], filter: Conditions, arrayFilters: readonly object[]): Wildcards {
  const named = namedTests(arrayFilters);
  const used = new Set(paths.flatMap((path) => path.split('.')).flatMap((part) => NAMED.exec(part)?.[1] ?? []));
  for (const name of named.keys()) {
    if (!used.has(name)) throw refusal(CODE.badValue, `the array filter '${name}' is not used in the update`);
  }
  const choose = (wildcard: string): Choice => {
    if (wildcard === EVERY) return (_, __, items) => [...items.keys()];
    if (wildcard === FIRST) return firstMatch(filter);
    const test = named.get(NAMED.exec(wildcard)?.[1] ?? '');
    if (!test) throw refusal(CODE.badValue, `no array filter for '${wildcard}'`);
    return (_, __, items) => [...items.keys()].filter((position) => test(items[position]));
  };
  return { choose };
}

function namedTests(arrayFilters: readonly object[]): Map<string, (element: unknown) => boolean> {
  return new Map(
    arrayFilters.map((filter) => {
      const names = new Set(Object.keys(filter).map((path) => path.split('.')[0]!));
      const [name] = names;
      if (!name || names.size > 1 || name.startsWith('$')) {
        throw refusal(CODE.badValue, 'an array filter speaks of one named element');
      }
      const matches = matcherOf(filter as Fields);
      return [name, (element) => matches({ [name]: element })];
    }),
  );
}

/** The first element that satisfies everything the filter says about that array. */
function firstMatch({ conditions }: Conditions): Choice {
  return (_, array, items) => {
    const path = array.join('.');
    const about = conditions.filter((condition) => condition.path === path || condition.path.startsWith(`${path}.`));
    const filter = about.length > 0 && filterOf({ conditions: about, others: [] });
    if (!filter) throw refusal(CODE.badValue, `'${path}.$' needs the array in the filter`);
    const matches = matcherOf(filter);
    const position = items.findIndex((item) => matches(nested(array, [item])));
    if (position < 0) throw refusal(CODE.badValue, `the filter matched no element of '${path}'`);
    return [position];
  };
}

const nested = (path: readonly string[], value: unknown): Fields =>
  path.reduceRight<unknown>((inner, segment) => ({ [segment]: inner }), value) as Fields;

/** A path with its wildcards put in place: one list of segments for each place it means in this document. */
export function placesOf(fields: Fields, path: string, wildcards: Wildcards): string[][] {
  return splitPath(path).reduce<string[][]>(
    (found, segment) =>
      segment.startsWith('$')
        ? found.flatMap((before) => chosen(fields, before, wildcards.choose(segment)))
        : found.map((before) => [...before, segment]),
    [[]],
  );
}

function chosen(fields: Fields, array: string[], choice: Choice): string[][] {
  const items = array.length > 0 ? valuesAt(fields, array)[0] : undefined;
  if (!Array.isArray(items)) throw refusal(CODE.badValue, `no array at '${array.join('.')}'`);
  return choice(fields, array, items).map((position) => [...array, String(position)]);
}
