import { MongoInvalidArgumentError } from 'mongodb';
import type { Conditions } from './filter-conditions.ts';
import { isFields, splitPath } from './path-values.ts';
import { CODE, refusal } from './refusals.ts';
import { asStored, type Fields } from './stored-document.ts';
import { UPDATE_OPERATORS } from './update-operators.ts';
import { placesOf, wildcardsOf } from './update-paths.ts';
import { placeAt } from './update-place.ts';

type Change = { operator: string; path: string; operand: unknown };
/** Gives the document as it should be. May change, and give back, the one it was handed. */
export type Apply = (fields: Fields, inserting: boolean) => Fields;

/**
 * Reads an update: what comes back can be used for many documents. Throws on unknown operators,
 * on two changes of one path, and where the driver would ("requires atomic operators").
 */
export function updateOf(update: unknown, filter: Conditions, arrayFilters: readonly object[] = []): Apply {
  if (Array.isArray(update)) throw new MongoInvalidArgumentError('the embedded store takes no update by pipeline');
  const changes = changesOf(update);
  refuseConflicts(changes);
  const paths = changes.map(({ path }) => path);
  const wildcards = wildcardsOf(paths, filter, arrayFilters.map(asStored));
  return (fields, inserting) => {
    for (const { operator, path, operand } of changes) {
      if (operator === '$setOnInsert' && !inserting) continue;
      if (operator === '$rename') rename(fields, path, String(operand));
      else {
        for (const segments of placesOf(fields, path, wildcards)) {
          UPDATE_OPERATORS[operator]!(placeAt(fields, segments), operand, path);
        }
      }
    }
    return fields;
  };
}

function changesOf(update: unknown): Change[] {
  if (typeof update !== 'object' || update === null || !Object.keys(update).every((name) => name.startsWith('$'))) {
    throw new MongoInvalidArgumentError('Update document requires atomic operators');
  }
  if (Object.keys(update).length === 0) throw new MongoInvalidArgumentError('an update without operators');
  return Object.entries(asStored(update)).flatMap(([operator, paths]) => {
    if (operator !== '$rename' && !Object.hasOwn(UPDATE_OPERATORS, operator)) {
      throw refusal(CODE.badValue, `Unknown modifier: ${operator}`);
    }
    if (!isFields(paths)) throw refusal(CODE.badValue, `${operator} needs fields`);
    return Object.entries(paths).map(([path, operand]) => ({ operator, path, operand }));
  });
}

/** Two changes conflict where one path is the other, or leads to it. */
function refuseConflicts(changes: readonly Change[]): void {
  const paths = changes.flatMap(({ operator, path, operand }) =>
    operator === '$rename' ? [path, String(operand)] : [path],
  );
  const sorted = paths.map((path) => `${splitPath(path).join('.')}.`).toSorted();
  sorted.forEach((path, position) => {
    if (sorted[position + 1]?.startsWith(path)) {
      const name = path.slice(0, -1);
      throw refusal(CODE.conflictingUpdate, `Updating the path '${name}' would create a conflict at '${name}'`);
    }
  });
}

function rename(fields: Fields, from: string, to: string): void {
  const source = placeAt(fields, splitPath(from));
  const value = source.get();
  if (value === undefined) return;
  source.unset();
  placeAt(fields, splitPath(to)).set(value);
}
