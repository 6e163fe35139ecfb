import { MongoServerError } from 'mongodb';

/** Whether a unique index refused a write (E11000): the one named `index`, or any if omitted. */
export function isDuplicateKey(error: unknown, index?: string): boolean {
  if (!(error instanceof MongoServerError) || error.code !== 11000) return false;
  return index === undefined || / index: (.+?) dup key:/.exec(error.message)?.[1] === index;
}
