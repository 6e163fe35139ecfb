import assert from 'node:assert/strict';
import type { Document } from 'mongodb';
import { MongoServerError } from 'mongodb';
import type { Cursor } from '../../src/store-shape.ts';

/** The `_id`s of what a cursor finds, in its order. */
export async function idsOf(cursor: Cursor<Document>): Promise<unknown[]> {
  return (await cursor.toArray()).map(({ _id }) => _id);
}

/** The `_id`s, where the order does not matter. */
export async function sortedIdsOf(cursor: Cursor<Document>): Promise<unknown[]> {
  return (await idsOf(cursor)).sort();
}

/** That the server refuses, as a server does. */
export async function refused(operation: Promise<unknown>, code?: number): Promise<void> {
  await assert.rejects(operation, (error) => {
    assert.ok(error instanceof MongoServerError, `not a refusal of a server: ${error}`);
    if (code !== undefined) assert.equal(error.code, code);
    return true;
  });
}

/** What an operation is rejected with. */
export async function errorOf(operation: Promise<unknown>): Promise<unknown> {
  return operation.then(
    () => assert.fail('nothing was refused'),
    (error: unknown) => error,
  );
}
