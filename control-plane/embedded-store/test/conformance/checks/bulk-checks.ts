import assert from 'node:assert/strict';
import { MongoBulkWriteError } from 'mongodb';
import { isDuplicateKey } from '../../../src/duplicate-key.ts';
import type { Check } from '../check.ts';
import { errorOf, sortedIdsOf } from '../expect.ts';

async function bulkErrorOf(operation: Promise<unknown>): Promise<MongoBulkWriteError> {
  const error = await errorOf(operation);
  assert.ok(error instanceof MongoBulkWriteError && isDuplicateKey(error), String(error));
  return error;
}

const failedAt = ({ writeErrors }: MongoBulkWriteError): number[] => [writeErrors].flat().map(({ index }) => index);

export const bulkChecks: readonly Check[] = [
  [
    'insertMany answers every id',
    async (things) => {
      const { insertedCount, insertedIds } = await things.insertMany([{ _id: 'a' }, { _id: 'b' }]);
      assert.deepEqual([insertedCount, insertedIds], [2, { 0: 'a', 1: 'b' }]);
    },
  ],
  [
    'insertMany in order stops at a duplicate and keeps what came before',
    async (things) => {
      await things.insertOne({ _id: 'b' });
      const error = await bulkErrorOf(things.insertMany([{ _id: 'a' }, { _id: 'b' }, { _id: 'c' }]));
      assert.deepEqual(failedAt(error), [1]);
      assert.deepEqual(await sortedIdsOf(things.find()), ['a', 'b']);
    },
  ],
  [
    'insertMany without order stores all but the duplicates',
    async (things) => {
      await things.insertOne({ _id: 'b' });
      const documents = ['a', 'b', 'c', 'a'].map((_id) => ({ _id }));
      const error = await bulkErrorOf(things.insertMany(documents, { ordered: false }));
      assert.deepEqual(failedAt(error), [1, 3]);
      assert.deepEqual(await sortedIdsOf(things.find()), ['a', 'b', 'c']);
    },
  ],
  [
    'insertMany that is refused in part counts what it stored',
    async (things) => {
      const documents = ['a', 'b', 'a'].map((_id) => ({ _id }));
      assert.equal((await bulkErrorOf(things.insertMany(documents, { ordered: false }))).insertedCount, 2);
      assert.equal((await bulkErrorOf(things.insertMany([{ _id: 'c' }, { _id: 'b' }, { _id: 'd' }]))).insertedCount, 1);
    },
  ],
  [
    'bulkWrite does writes of all kinds and adds up what they did',
    async (things) => {
      await things.insertMany([
        { _id: 'a', n: 1 },
        { _id: 'b', n: 1 },
        { _id: 'c', n: 2 },
      ]);
      const result = await things.bulkWrite([
        { insertOne: { document: { _id: 'd', n: 1 } } },
        { updateOne: { filter: { _id: 'a' }, update: { $set: { n: 5 } } } },
        { updateMany: { filter: { n: 1 }, update: { $inc: { n: 1 } } } },
        { updateOne: { filter: { _id: 'e' }, update: { $set: { n: 7 } }, upsert: true } },
        { replaceOne: { filter: { _id: 'c' }, replacement: { m: 1 } as never } },
        { deleteOne: { filter: { _id: 'b' } } },
        { deleteMany: { filter: { n: 7 } } },
      ]);
      assert.deepEqual(
        [result.insertedCount, result.matchedCount, result.modifiedCount, result.deletedCount, result.upsertedCount],
        [1, 4, 4, 2, 1],
      );
      assert.deepEqual(result.upsertedIds, { 3: 'e' });
      assert.deepEqual(await things.find().sort({ _id: 1 }).toArray(), [
        { _id: 'a', n: 5 },
        { _id: 'c', m: 1 },
        { _id: 'd', n: 2 },
      ]);
    },
  ],
  [
    'bulkWrite without order goes on after a refused write',
    async (things) => {
      await things.insertOne({ _id: 'a', n: 1 });
      const error = await bulkErrorOf(
        things.bulkWrite(
          [
            { insertOne: { document: { _id: 'a' } } },
            { updateOne: { filter: { _id: 'a' }, update: { $inc: { n: 1 } } } },
            { insertOne: { document: { _id: 'b' } } },
          ],
          { ordered: false },
        ),
      );
      assert.deepEqual([failedAt(error), error.modifiedCount], [[0], 1]);
      assert.deepEqual(await things.find().sort({ _id: 1 }).toArray(), [{ _id: 'a', n: 2 }, { _id: 'b' }]);
    },
  ],
];
