import { MongoInvalidArgumentError } from 'mongodb';

/**
 * Refuses `undefined` anywhere in a filter. The driver leaves such a field out, which makes `{ _id: undefined }` match
 * every document: a missing id must never select the records of all organizations.
 */
export function refuseUndefined(filter: unknown, path = 'filter'): void {
  if (filter === undefined) throw new MongoInvalidArgumentError(`undefined at ${path}`);
  if (Array.isArray(filter)) {
    filter.forEach((item, position) => {
      refuseUndefined(item, `${path}.${position}`);
    });
  } else if (isPlain(filter)) {
    for (const [key, value] of Object.entries(filter)) refuseUndefined(value, `${path}.${key}`);
  }
}

function isPlain(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
