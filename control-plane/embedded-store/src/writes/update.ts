import { MongoInvalidArgumentError } from 'mongodb';
import { CODE, refusal } from '../refusals.ts';
import { type Fields, fromBytes, toBytes } from '../stored-document.ts';
import { isFields, splitPath } from '../values/path-values.ts';
import { documentAt, fieldNames, withoutFieldsOf } from '../values/picked-fields.ts';
import { UPDATE_OPERATORS } from './update-operators.ts';
import { fieldAt } from './updated-field.ts';

type Change = { operator: string; path: string; operand: unknown };
/** Returns the updated document. May modify and return its argument, but not what that contains. */
export type Apply = (fields: Fields) => Fields;
/**
 * `names`: the fields of a document that it reads and changes; null: all of them. `whole`: those that it sets as a
 * whole, to values that `set` has as BSON: `apply` leaves them as they are, so that a large value is deserialized only
 * if it is read. `insert`: makes the document of an upsert, all fields included.
 */
export type Update = {
  apply: Apply;
  insert: Apply;
  names: ReadonlySet<string> | null;
  whole: ReadonlySet<string>;
  set: Uint8Array;
};

/**
 * Compiles an update for use on many documents. Throws on unknown operators, on two changes of one path, and where the
 * driver would ("requires atomic operators").
 */
export function updateOf(update: unknown): Update {
  if (Array.isArray(update)) throw new MongoInvalidArgumentError('the embedded store takes no update by pipeline');
  const bytes = bytesOf(update);
  const set = documentAt(bytes, '$set') ?? NOTHING;
  const whole = fieldNames(set).filter((name) => !name.includes('.'));
  const changes = changesIn(withoutFieldsOf(bytes, '$set', new Set(whole)));
  refuseConflicts([...changes.map(({ path }) => path), ...whole]);
  return {
    apply: (fields) => applied(fields, changes, false),
    insert: (fields) => applied(fields, changesIn(bytes), true),
    names: new Set([...changes.map(({ path }) => splitPath(path)[0]!), ...whole]),
    whole: new Set(whole),
    set,
  };
}

function applied(fields: Fields, changes: readonly Change[], inserting: boolean): Fields {
  for (const { operator, path, operand } of changes) {
    if (operator === '$setOnInsert' && !inserting) continue;
    UPDATE_OPERATORS[operator]!(fieldAt(fields, pathOf(path)), operand, path);
  }
  return fields;
}

const NOTHING = toBytes({});

function bytesOf(update: unknown): Uint8Array {
  if (typeof update !== 'object' || update === null || !Object.keys(update).every((name) => name.startsWith('$'))) {
    throw new MongoInvalidArgumentError('Update document requires atomic operators');
  }
  if (Object.keys(update).length === 0) throw new MongoInvalidArgumentError('an update without operators');
  return toBytes(update);
}

function changesIn(bytes: Uint8Array): Change[] {
  return Object.entries(fromBytes(bytes)).flatMap(([operator, paths]) => {
    if (!Object.hasOwn(UPDATE_OPERATORS, operator)) {
      throw refusal(CODE.badValue, `Unknown modifier: ${operator}`);
    }
    if (!isFields(paths)) throw refusal(CODE.badValue, `${operator} needs fields`);
    return Object.entries(paths).map(([path, operand]) => ({ operator, path, operand }));
  });
}

/** Two changes conflict if one path equals the other or is a prefix of it. */
function refuseConflicts(paths: readonly string[]): void {
  const sorted = paths.map((path) => `${pathOf(path).join('.')}.`).toSorted();
  sorted.forEach((path, position) => {
    if (sorted[position + 1]?.startsWith(path)) {
      const name = path.slice(0, -1);
      throw refusal(CODE.conflictingUpdate, `Updating the path '${name}' would create a conflict at '${name}'`);
    }
  });
}

/** The segments of a path. Refuses `$`, `$[]` and `$[name]`, the placeholders for array elements. */
function pathOf(path: string): string[] {
  const segments = splitPath(path);
  if (segments.some((segment) => segment.startsWith('$')))
    throw refusal(CODE.badValue, `the embedded store takes no positions of arrays in updates: ${path}`);
  return segments;
}
