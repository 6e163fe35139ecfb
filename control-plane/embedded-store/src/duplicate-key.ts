import { MongoServerError } from 'mongodb';

/** Whether a write was refused by a unique index (E11000): by `index` when it is named, by any one else. */
export function isDuplicateKey(error: unknown, index?: string): boolean {
  if (!(error instanceof MongoServerError) || error.code !== 11000) return false;
  return index === undefined || / index: (.+?) dup key:/.exec(error.message)?.[1] === index;
}
