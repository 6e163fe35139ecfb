import { MongoInvalidArgumentError } from 'mongodb';
import type { Fields } from '../stored-document.ts';

const POSITION = /^(?:0|[1-9]\d*)$/;

export const isPosition = (segment: string): boolean => POSITION.test(segment);

/** `a.b.0` as its segments. Refuses empty segments and `__proto__`. */
export function splitPath(path: string): string[] {
  const segments = path.split('.');
  if (segments.includes('') || segments.includes('__proto__')) {
    throw new MongoInvalidArgumentError(`no path of a field: ${JSON.stringify(path)}`);
  }
  return segments;
}

export function isFields(value: unknown): value is Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  return !(value instanceof Date || value instanceof RegExp || '_bsontype' in value);
}

/** An own field, `undefined` if there is none; never an inherited property. */
export function fieldOf(fields: Fields, name: string): unknown {
  return Object.hasOwn(fields, name) ? fields[name] : undefined;
}

/**
 * Every value at a path. Arrays on the way are traversed element by element; `undefined` is a missing field. An array
 * at the end of the path is one value.
 */
export function valuesAt(fields: Fields, segments: readonly string[]): unknown[] {
  if (segments.length === 1) return [fieldOf(fields, segments[0]!)];
  const found: unknown[] = [];
  follow(fields, segments, 0, found);
  return found;
}

function follow(value: unknown, segments: readonly string[], depth: number, found: unknown[]): void {
  const segment = segments[depth];
  if (segment === undefined) found.push(value);
  else if (Array.isArray(value)) followArray(value, segments, depth, found);
  else if (isFields(value)) follow(fieldOf(value, segment), segments, depth + 1, found);
  else found.push(undefined);
}

function followArray(items: unknown[], segments: readonly string[], depth: number, found: unknown[]): void {
  const segment = segments[depth]!;
  if (isPosition(segment) && Number(segment) < items.length) {
    follow(items[Number(segment)], segments, depth + 1, found);
  }
  for (const item of items) {
    if (isFields(item) && (!isPosition(segment) || Object.hasOwn(item, segment))) follow(item, segments, depth, found);
  }
}

/**
 * The values that an index holds for a path: like `valuesAt`, but each element of an array at the end. `isArray`: the
 * path crosses an array.
 */
export function indexedValues(fields: Fields, segments: readonly string[]): { values: unknown[]; isArray: boolean } {
  const leaves = valuesAt(fields, segments);
  if (leaves.length === 1 && !Array.isArray(leaves[0])) {
    return { values: leaves, isArray: segments.length > 1 && crossesArray(fields, segments) };
  }
  return { values: leaves.flatMap((leaf) => (Array.isArray(leaf) && leaf.length > 0 ? leaf : [leaf])), isArray: true };
}

function crossesArray(fields: Fields, segments: readonly string[]): boolean {
  let value: unknown = fields;
  for (const segment of segments) {
    if (Array.isArray(value)) return true;
    if (!isFields(value)) return false;
    value = fieldOf(value, segment);
  }
  return false;
}
