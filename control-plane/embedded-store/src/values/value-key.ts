import {
  Binary,
  BSONRegExp,
  BSONSymbol,
  Decimal128,
  Long,
  MaxKey,
  MinKey,
  MongoInvalidArgumentError,
  ObjectId,
  Timestamp,
} from 'mongodb';
import { KeyWriter } from './key-writer.ts';
import { writeNumber } from './number-key.ts';

/** The first byte of a key. The order of these is MongoDB's order of types; the gaps leave room for `tag + 1`. */
export const TAG = {
  minKey: 0x01,
  emptyArray: 0x03,
  null: 0x05,
  number: 0x0a,
  string: 0x0f,
  object: 0x14,
  array: 0x19,
  binary: 0x1e,
  objectId: 0x23,
  boolean: 0x28,
  date: 0x2d,
  timestamp: 0x2f,
  regex: 0x32,
  maxKey: 0x7f,
} as const;

const END = 0x00;

/** The rank of a value's type: values with different tags are never equal and sort by their tags. */
export function tagOf(value: unknown): number {
  switch (typeof value) {
    case 'string':
      return TAG.string;
    case 'number':
    case 'bigint':
      return TAG.number;
    case 'boolean':
      return TAG.boolean;
    case 'undefined':
      return TAG.null;
    default:
      return value === null ? TAG.null : tagOfObject(value as object);
  }
}

function tagOfObject(value: object): number {
  if (Array.isArray(value)) return TAG.array;
  if (value instanceof Date) return TAG.date;
  if (value instanceof ObjectId) return TAG.objectId;
  if (value instanceof Timestamp) return TAG.timestamp; // before Long, which it extends
  if (value instanceof Long || value instanceof Decimal128) return TAG.number;
  if (value instanceof Binary) return TAG.binary;
  if (value instanceof RegExp || value instanceof BSONRegExp) return TAG.regex;
  if (value instanceof BSONSymbol) return TAG.string;
  if (value instanceof MinKey) return TAG.minKey;
  if (value instanceof MaxKey) return TAG.maxKey;
  if ('_bsontype' in value) throw new MongoInvalidArgumentError(`a ${String(value._bsontype)} cannot be compared`);
  return TAG.object;
}

/** Bytes that sort, compared one by one, as MongoDB sorts the values. A missing value is written as null. */
export function writeValue(writer: KeyWriter, value: unknown): void {
  const tag = tagOf(value);
  writer.byte(tag);
  WRITERS[tag]?.(writer, value);
}

export function keyOf(value: unknown): Buffer {
  const writer = new KeyWriter();
  writeValue(writer, value);
  return writer.bytes();
}

const WRITERS: Readonly<Record<number, (writer: KeyWriter, value: unknown) => void>> = {
  [TAG.number]: (writer, value) => writeNumber(writer, value as number),
  [TAG.string]: (writer, value) => writer.text(String(value)),
  [TAG.object]: (writer, value) => writeFields(writer, value as Record<string, unknown>),
  [TAG.array]: (writer, value) => writeItems(writer, value as unknown[]),
  [TAG.binary]: (writer, value) => writeBinary(writer, value as Binary),
  [TAG.objectId]: (writer, value) => writer.raw((value as ObjectId).id),
  [TAG.boolean]: (writer, value) => writer.byte(value ? 1 : 0),
  [TAG.date]: (writer, value) => writer.double((value as Date).getTime()),
  [TAG.timestamp]: (writer, value) => writeTimestamp(writer, value as Timestamp),
  [TAG.regex]: (writer, value) => writeRegex(writer, value as RegExp | BSONRegExp),
};

/** Field by field: the type, the name, then the value, as MongoDB compares documents. */
function writeFields(writer: KeyWriter, fields: Record<string, unknown>): void {
  for (const [name, value] of Object.entries(fields)) {
    writer.byte(tagOf(value));
    writer.text(name);
    writeValue(writer, value);
  }
  writer.byte(END);
}

function writeItems(writer: KeyWriter, items: unknown[]): void {
  for (const item of items) writeValue(writer, item);
  writer.byte(END);
}

function writeBinary(writer: KeyWriter, { buffer, position, sub_type }: Binary): void {
  writer.uint32(position);
  writer.byte(sub_type);
  writer.raw(buffer.subarray(0, position));
}

function writeTimestamp(writer: KeyWriter, value: Timestamp): void {
  writer.uint32(value.t);
  writer.uint32(value.i);
}

function writeRegex(writer: KeyWriter, value: RegExp | BSONRegExp): void {
  writer.text(value instanceof RegExp ? value.source : value.pattern);
  writer.text(value instanceof RegExp ? value.flags : value.options);
}

/** MongoDB's order of two values: below, at or above zero. */
export function compareValues(left: unknown, right: unknown): number {
  if (typeof left === 'number' && typeof right === 'number') return compareNumbers(left, right);
  if (left === right) return 0;
  const tags = tagOf(left) - tagOf(right);
  return tags === 0 ? keyOf(left).compare(keyOf(right)) : tags;
}

function compareNumbers(left: number, right: number): number {
  if (left === right) return 0;
  if (Number.isNaN(left)) return Number.isNaN(right) ? 0 : -1;
  return left < right ? -1 : 1;
}

export function sameValue(left: unknown, right: unknown): boolean {
  return compareValues(left, right) === 0;
}
