import { MongoInvalidArgumentError, MongoServerError } from 'mongodb';
import type { Fields } from './stored-document.ts';

/** MongoDB's own numbers for what a server refuses. */
export const CODE = {
  badValue: 2,
  typeMismatch: 14,
  pathNotViable: 28,
  indexNotFound: 27,
  conflictingUpdate: 40,
  immutableField: 66,
  indexOptionsConflict: 85,
  parallelArrays: 171,
  duplicateKey: 11000,
} as const;

export function refusal(code: number, message: string): MongoServerError {
  return new MongoServerError({ message, code });
}

/** E11000 in the words of the server; `index: NAME ` in the message is what tells the indexes apart. */
export function duplicateKey(collection: string, index: string, keyPattern: Fields, keyValue: Fields): Error {
  const pairs = Object.entries(keyValue).map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
  const message = `E11000 duplicate key error collection: ${collection} index: ${index} dup key: { ${pairs.join(', ')} }`;
  return new MongoServerError({ message, code: CODE.duplicateKey, keyPattern, keyValue });
}

/** Refuses an option this engine does not have: one that is quietly ignored is a wrong answer later. */
export function onlyOptions(options: object | undefined, ...known: string[]): void {
  for (const [name, value] of Object.entries(options ?? {})) {
    if (value !== undefined && !known.includes(name)) {
      throw new MongoInvalidArgumentError(`the embedded store has no option ${name}`);
    }
  }
}
