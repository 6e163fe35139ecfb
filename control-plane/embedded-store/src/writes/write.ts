import { MongoInvalidArgumentError, ObjectId, type Sort, type UpdateResult } from 'mongodb';
import { type Conditions, conditionsOf } from '../filters/filter-conditions.ts';
import { fieldsOfIndex } from '../indexes/index-spec.ts';
import { CODE, refusal } from '../refusals.ts';
import { type Found, findRows } from '../search/find-rows.ts';
import type { Records } from '../storage/records.ts';
import { asStored, type Fields, fromBytes, ofAllowedSize, toBytes } from '../stored-document.ts';
import { fieldOf, splitPath } from '../values/path-values.ts';
import { ALL, type FieldTree, pickFields, spliceFields, treeWithout, withWhole } from '../values/picked-fields.ts';
import { sortComponents } from '../values/sort-order.ts';
import { sameValue } from '../values/value-key.ts';
import { type Apply, type Update, updateOf } from './update.ts';
import { fieldAt } from './updated-field.ts';

/** The documents that a write selects: the first `limit` in sort order, 0 for all. */
export type Selection = { filter: object; sort?: Sort | undefined; limit: number };
export type Change = Selection & {
  update?: unknown;
  replacement?: object;
  upsert?: boolean | undefined;
  /** The fields of documents that the caller reads; null: all of them. Absent: none. */
  shown?: FieldTree | null;
  /** The caller reads documents only as they are after the write: what the update replaces is not read. */
  onlyAfter?: boolean;
};
/** A document before and after a write, with the fields that the caller reads. Undefined where there was none. */
export type Written = { before?: Fields; after?: Fields; modified: boolean };

/** Stores a new document. If it has no `_id`, generates one and sets it on the argument too, as the driver does. */
export function insertDocument(records: Records, document: object): unknown {
  const given = document as Fields;
  if (given._id === undefined) given._id = new ObjectId();
  const { _id, ...others } = given;
  if (Array.isArray(_id) || _id instanceof RegExp) throw refusal(CODE.badValue, 'an _id is neither array nor pattern');
  records.insert(toBytes({ _id, ...others }));
  return _id;
}

/** Updates or replaces the selected documents; if there are none and `upsert` is set, inserts one. */
export function changeDocuments(records: Records, change: Change, update: Update = updateFor(change)): Written[] {
  const conditions = conditionsOf(change.filter);
  const indexed = indexedFields(records, update);
  const needed = neededAfter(indexed, update, change.shown);
  const replaced = change.onlyAfter ? update.whole.difference(indexed) : new Set<string>();
  const computed = update.names && [...update.names.difference(update.whole)];
  const read = needed && computed && withWhole(treeWithout(needed, replaced), computed);
  const found = [...select(records, change, read)];
  if (found.length > 0) return found.map((one) => changeOne(records, one, update, needed));
  return change.upsert ? [upsert(records, conditions, update.insert)] : [];
}

/** Compiles the update or replacement of a change. Throws where the driver would. */
export function updateFor({ update, replacement }: Change): Update {
  if (!replacement) return updateOf(update);
  if (Object.keys(replacement).some((name) => name.startsWith('$'))) {
    throw new MongoInvalidArgumentError('Replacement document must not contain atomic operators');
  }
  const stored = asStored(replacement);
  const apply: Apply = ({ _id }) => (_id === undefined ? { ...stored } : { _id, ...stored });
  return {
    apply,
    insert: apply,
    names: null,
    whole: new Set(),
    set: new Uint8Array(),
  };
}

/** All fields of the indexes that an update may change, and `_id`. */
function indexedFields({ indexes }: Records, { names }: Update): ReadonlySet<string> {
  const fields = indexes.map(({ spec }) => fieldsOfIndex(spec));
  return new Set(['_id', ...fields.filter((some) => some.some((name) => names?.has(name))).flat()]);
}

/** What is read of a changed document: what the caller reads, and what indexes have. Null: everything. */
const neededAfter = (
  indexed: ReadonlySet<string>,
  { names }: Update,
  shown: FieldTree | null = new Map(),
): FieldTree | null => (names && shown ? withWhole(shown, [...indexed]) : null);

function select(records: Records, { filter, sort, limit }: Selection, shown: FieldTree | null): Iterable<Found> {
  return findRows(records, filter, { order: sortComponents(sort), limit, shown });
}

function changeOne(records: Records, found: Found, update: Update, needed: FieldTree | null): Written {
  const { row, bytes: old, fields: before } = found;
  const { bytes, after } = changed(found, update, needed);
  if (!sameValue(after._id, before._id)) {
    throw refusal(CODE.immutableField, "Performing an update on the path '_id' would modify the immutable field '_id'");
  }
  const modified = Buffer.compare(bytes, old) !== 0;
  if (modified) records.replace(row, before, { fields: after, bytes });
  return { before, after, modified };
}

/**
 * A large document costs what its changed fields cost. `after` has the fields of `needed` as they are stored; what it
 * has of others is not to be read.
 */
function changed(
  { bytes: old, fields: before }: Found,
  { apply, names, whole, set }: Update,
  needed: FieldTree | null,
): { bytes: Uint8Array; after: Fields } {
  const applied = apply({ ...before });
  if (!names) {
    const bytes = toBytes(applied);
    return { bytes, after: fromBytes(bytes) };
  }
  const isComputed = (name: string) => !whole.has(name) && fieldOf(applied, name) !== fieldOf(before, name);
  const computed = [...names].filter(isComputed);
  const exchanged = toBytes(Object.fromEntries(computed.map((name) => [name, fieldOf(applied, name)])));
  const bytes = spliceFields(old, new Set([...whole, ...computed]), set, exchanged);
  if (!bytes) throw new Error('a stored document has a value of an unknown type');
  const wholeOf: FieldTree = { get: (name) => (whole.has(name) ? (needed ?? ALL).get(name) : undefined), size: 1 };
  const after = {
    ...applied,
    ...fromBytes(pickFields(set, wholeOf)),
    ...fromBytes(pickFields(exchanged, needed ?? ALL)),
  };
  return { bytes: ofAllowedSize(bytes), after };
}

/** The document that an upsert inserts: the filter's equality conditions, then the update. */
function upsert(records: Records, { conditions }: Conditions, insert: Apply): Written {
  const equal: Fields = {};
  for (const { path, operator, value } of conditions) {
    if (operator === '$eq') fieldAt(equal, splitPath(path)).set(value);
  }
  const fields = insert(equal);
  insertDocument(records, fields);
  const { _id, ...others } = fields;
  return { after: asStored({ _id, ...others }), modified: false };
}

export function deleteDocuments(records: Records, selection: Selection): Fields[] {
  const found = [...select(records, selection, null)];
  for (const { row, fields } of found) records.remove(row, fields);
  return found.map(({ fields }) => fields);
}

/** The driver's result of an update. */
export function updateResult(written: readonly Written[]): UpdateResult {
  const inserted = written.find(({ before }) => before === undefined);
  return {
    acknowledged: true,
    matchedCount: inserted ? 0 : written.length,
    modifiedCount: written.filter(({ modified }) => modified).length,
    upsertedCount: inserted ? 1 : 0,
    upsertedId: (inserted?.after?._id ?? null) as ObjectId | null,
  };
}
