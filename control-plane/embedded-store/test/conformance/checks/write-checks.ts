import assert from 'node:assert/strict';
import { MongoInvalidArgumentError, ObjectId } from 'mongodb';
import { isDuplicateKey } from '../../../src/duplicate-key.ts';
import type { Check } from '../check.ts';
import { errorOf, refused, sortedIdsOf } from '../expect.ts';

export const writeChecks: readonly Check[] = [
  [
    'insertOne answers the id and stores the document as it was given',
    async (things) => {
      const { insertedId, acknowledged } = await things.insertOne({ _id: 'a', list: [1, { deep: true }], none: null });
      assert.deepEqual([insertedId, acknowledged], ['a', true]);
      assert.deepEqual(await things.findOne({ _id: 'a' }), { _id: 'a', list: [1, { deep: true }], none: null });
    },
  ],
  [
    'a document without an id gets an ObjectId, which is also set on the argument',
    async (things, store) => {
      const untyped = store.collection(`${things.collectionName}_untyped`);
      const document: { _id?: ObjectId; n: number } = { n: 1 };
      const { insertedId } = await untyped.insertOne(document);
      assert.ok(insertedId instanceof ObjectId && insertedId.equals(document._id));
      assert.equal(await untyped.countDocuments({ _id: insertedId }), 1);
    },
  ],
  [
    'a second document with the same id is refused with E11000 and the first stays',
    async (things) => {
      await things.insertOne({ _id: 'a', n: 1 });
      const error = await errorOf(things.insertOne({ _id: 'a', n: 2 }));
      assert.ok(isDuplicateKey(error) && isDuplicateKey(error, '_id_') && !isDuplicateKey(error, 'other_1'));
      assert.deepEqual(await things.find().toArray(), [{ _id: 'a', n: 1 }]);
    },
  ],
  [
    'a field that is undefined is not stored',
    async (things) => {
      await things.insertOne({ _id: 'a', absent: undefined, nested: { absent: undefined, n: 1 } });
      assert.deepEqual(await things.findOne({ _id: 'a' }), { _id: 'a', nested: { n: 1 } });
      await things.updateOne({ _id: 'a' }, { $set: { absent: undefined, m: 2 } });
      assert.deepEqual(await things.findOne({ _id: 'a' }), { _id: 'a', nested: { n: 1 }, m: 2 });
    },
  ],
  [
    'undefined in a filter is refused, by every method, and nothing is touched',
    async (things) => {
      await things.insertOne({ _id: 'a', n: 1 });
      const nobody = { _id: undefined } as unknown as { _id: string };
      const operations: (() => Promise<unknown>)[] = [
        () => things.findOne(nobody),
        async () => things.find({ $or: [{ n: 2 }, nobody] }).toArray(),
        () => things.countDocuments({ n: { $in: [undefined] } }),
        () => things.updateOne(nobody, { $set: { n: 2 } }),
        () => things.deleteMany(nobody),
        () => things.findOneAndUpdate(nobody, { $set: { n: 2 } }),
        () => things.findOneAndDelete(nobody),
        () => things.distinct('n', nobody),
        () => things.bulkWrite([{ deleteMany: { filter: nobody } }]),
      ];
      for (const operation of operations) {
        await assert.rejects(async () => operation(), MongoInvalidArgumentError);
      }
      assert.deepEqual(await things.find().toArray(), [{ _id: 'a', n: 1 }]);
    },
  ],
  [
    'replaceOne keeps the id and nothing else',
    async (things) => {
      await things.insertOne({ _id: 'a', n: 1, old: true });
      const result = await things.replaceOne({ n: 1 }, { fresh: true } as never);
      assert.deepEqual([result.matchedCount, result.modifiedCount], [1, 1]);
      assert.deepEqual(await things.find().toArray(), [{ _id: 'a', fresh: true }]);
    },
  ],
  [
    'replaceOne with upsert makes what is missing, with the id of the filter',
    async (things) => {
      const result = await things.replaceOne({ _id: 'a' }, { n: 1 } as never, { upsert: true });
      assert.deepEqual([result.matchedCount, result.upsertedCount, result.upsertedId], [0, 1, 'a']);
      assert.deepEqual(await things.find().toArray(), [{ _id: 'a', n: 1 }]);
    },
  ],
  [
    'a replacement with operators, and an update without, are refused before anything is sent',
    async (things) => {
      await things.insertOne({ _id: 'a' });
      await assert.rejects(
        async () => things.replaceOne({ _id: 'a' }, { $set: { n: 1 } } as never),
        /atomic operators/,
      );
      await assert.rejects(async () => things.updateOne({ _id: 'a' }, { n: 1 } as never), /atomic operators/);
      assert.deepEqual(await things.find().toArray(), [{ _id: 'a' }]);
    },
  ],
  [
    'deleteOne deletes one, deleteMany all that match, both return how many',
    async (things) => {
      await things.insertMany(['a', 'b', 'c', 'd'].map((_id) => ({ _id, n: _id === 'd' ? 2 : 1 })));
      assert.equal((await things.deleteOne({ n: 1 })).deletedCount, 1);
      assert.equal((await things.deleteMany({ n: 1 })).deletedCount, 2);
      assert.equal((await things.deleteMany({ n: 7 })).deletedCount, 0);
      assert.deepEqual(await sortedIdsOf(things.find()), ['d']);
    },
  ],
  [
    'a collection that was never written to is empty, and can be read and changed like any other',
    async (things) => {
      assert.equal(await things.findOne({ _id: 'a' }), null);
      assert.equal(await things.countDocuments(), 0);
      assert.deepEqual(await things.distinct('n'), []);
      assert.equal((await things.updateOne({ _id: 'a' }, { $set: { n: 1 } })).matchedCount, 0);
      assert.equal((await things.deleteMany({})).deletedCount, 0);
    },
  ],
  [
    'an option or operator that does not exist is refused',
    async (things) => {
      await things.insertOne({ _id: 'a', n: 1 });
      await refused(things.updateOne({ _id: 'a' }, { $nonsense: { n: 1 } } as never));
      await refused(things.find({ n: { $nonsense: 1 } } as never).toArray());
      await refused(things.find({ $nonsense: [{ n: 1 }] } as never).toArray());
      assert.deepEqual(await things.find().toArray(), [{ _id: 'a', n: 1 }]);
    },
  ],
  [
    'changing a document that was read or inserted does not change the stored one',
    async (things) => {
      const document = { _id: 'a', list: [1], at: new Date(1000) };
      await things.insertOne(document);
      document.list.push(2);
      document.at.setTime(5);
      const read = await things.findOne({ _id: 'a' });
      read?.list.push(3);
      assert.deepEqual(await things.findOne({ _id: 'a' }), { _id: 'a', list: [1], at: new Date(1000) });
    },
  ],
];
