import { MongoInvalidArgumentError, MongoServerError } from 'mongodb';
import type { Fields } from './stored-document.ts';

/** MongoDB's error codes for the requests that this engine refuses. */
export const CODE = {
  badValue: 2,
  typeMismatch: 14,
  pathNotViable: 28,
  indexNotFound: 27,
  conflictingUpdate: 40,
  maxTimeExpired: 50,
  immutableField: 66,
  indexOptionsConflict: 85,
  parallelArrays: 171,
  duplicateKey: 11000,
} as const;

export function refusal(code: number, message: string): MongoServerError {
  return new MongoServerError({ message, code });
}

/** The server's E11000 error. Callers distinguish indexes by the `index: NAME ` in its message. */
export function duplicateKey(collection: string, index: string, keyPattern: Fields, keyValue: Fields): Error {
  const pairs = Object.entries(keyValue).map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
  const message = `E11000 duplicate key error collection: ${collection} index: ${index} dup key: { ${pairs.join(', ')} }`;
  return new MongoServerError({ message, code: CODE.duplicateKey, keyPattern, keyValue });
}

/** Refuses options that this engine does not support: ignoring them would give wrong results. */
export function onlyOptions(options: object | undefined, ...known: string[]): void {
  for (const [name, value] of Object.entries(options ?? {})) {
    if (value !== undefined && !known.includes(name)) {
      throw new MongoInvalidArgumentError(`the embedded store has no option ${name}`);
    }
  }
}
