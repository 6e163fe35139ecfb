import assert from 'node:assert/strict';
import { Long } from 'mongodb';
import type { Collection } from '../../../src/store-shape.ts';
import { type Anything, type Check, update } from '../check.ts';
import { refused } from '../expect.ts';

/** What becomes of a document by an update. */
async function updated(things: Collection<Anything>, before: object, changes: object): Promise<object> {
  await things.replaceOne({ _id: 'a' }, before as never, { upsert: true });
  await things.updateOne({ _id: 'a' }, update(changes));
  const { _id, ...after } = (await things.findOne({ _id: 'a' }))!;
  return after;
}

export const updateChecks: readonly Check[] = [
  [
    '$set and $unset reach into documents and arrays, and make what is missing on the way',
    async (things) => {
      const before = { a: { b: 1, c: 2 }, list: [{ n: 1 }, { n: 2 }] };
      const changes = { $set: { 'a.b': 9, 'x.y.z': 1, 'list.1.n': 8, 'list.0.m': 7 }, $unset: { 'a.c': '', gone: '' } };
      assert.deepEqual(await updated(things, before, changes), {
        a: { b: 9 },
        list: [{ n: 1, m: 7 }, { n: 8 }],
        x: { y: { z: 1 } },
      });
    },
  ],
  [
    'an element that is set past the end of an array, or unset, leaves nulls',
    async (things) => {
      assert.deepEqual(await updated(things, { v: [1] }, { $set: { 'v.3': 4 } }), { v: [1, null, null, 4] });
      assert.deepEqual(await updated(things, { v: [1, 2, 3] }, { $unset: { 'v.1': '' } }), { v: [1, null, 3] });
    },
  ],
  [
    '$inc starts at zero and keeps 64 bits',
    async (things) => {
      const changes = { $inc: { n: 2, fresh: -1, 'deep.n': 1 } };
      assert.deepEqual(await updated(things, { n: 1.5 }, changes), { n: 3.5, fresh: -1, deep: { n: 1 } });
      const big = await updated(
        things,
        { n: Long.fromString('9007199254740993') },
        { $inc: { n: Long.fromNumber(2) } },
      );
      assert.deepEqual(big, { n: Long.fromString('9007199254740995') });
    },
  ],
  [
    '$inc of a text is refused and changes nothing',
    async (things) => {
      await things.insertOne({ _id: 'a', n: '1', m: 1 });
      await refused(things.updateOne({ _id: 'a' }, { $inc: { n: 1 }, $set: { m: 2 } }), 14);
      assert.deepEqual(await things.findOne({}), { _id: 'a', n: '1', m: 1 });
    },
  ],
  [
    '$min and $max keep the smaller and the larger, of dates too',
    async (things) => {
      const before = { low: 5, high: 5, at: new Date(5) };
      const changes = { $min: { low: 3, fresh: 1 }, $max: { high: 4, at: new Date(9) } };
      assert.deepEqual(await updated(things, before, changes), { low: 3, high: 5, at: new Date(9), fresh: 1 });
    },
  ],
  [
    '$push appends one or $each',
    async (things) => {
      assert.deepEqual(await updated(things, {}, { $push: { v: 1 } }), { v: [1] });
      assert.deepEqual(await updated(things, { v: [1] }, { $push: { v: { $each: [2, 3] } } }), { v: [1, 2, 3] });
      assert.deepEqual(await updated(things, { v: [] }, { $push: { v: [1, 2] } }), { v: [[1, 2]] });
    },
  ],
  [
    '$pull removes what matches: a value, a condition, a document by some of its fields',
    async (things) => {
      assert.deepEqual(await updated(things, { v: [1, 2, 1] }, { $pull: { v: 1 } }), { v: [2] });
      assert.deepEqual(await updated(things, { v: [1, 5, 9] }, { $pull: { v: { $gte: 5 } } }), { v: [1] });
      assert.deepEqual(await updated(things, { v: ['a', 'b', 'c'] }, { $pull: { v: { $in: ['a', 'c'] } } }), {
        v: ['b'],
      });
      const outbox = {
        v: [
          { id: 'x', n: 1 },
          { id: 'y', n: 1 },
        ],
      };
      assert.deepEqual(await updated(things, outbox, { $pull: { v: { id: 'x' } } }), { v: [{ id: 'y', n: 1 }] });
      assert.deepEqual(await updated(things, outbox, { $pull: { v: { id: { $in: ['x', 'y'] } } } }), { v: [] });
      assert.deepEqual(await updated(things, {}, { $pull: { v: 1 } }), {});
    },
  ],
  [
    '$addToSet adds what is not there',
    async (things) => {
      assert.deepEqual(await updated(things, { v: [1] }, { $addToSet: { v: { $each: [1, 2, 2] } } }), { v: [1, 2] });
      assert.deepEqual(await updated(things, { v: [{ a: 1 }] }, { $addToSet: { v: { a: 1 } } }), { v: [{ a: 1 }] });
    },
  ],
  [
    'compare and set: of two updates that expect the same state one is made',
    async (things) => {
      await things.insertOne({ _id: 'a', status: 'pending', lease: { fence: 1 }, outbox: [] });
      const claim = (owner: string): Promise<{ modifiedCount: number }> =>
        things.updateOne(
          { _id: 'a', status: 'pending', 'lease.fence': 1 },
          update({
            $set: { status: 'running', owner },
            $inc: { 'lease.fence': 1 },
            $push: { outbox: { $each: [{ id: owner }] } },
          }),
        );
      const results = await Promise.all([claim('x'), claim('y')]);
      assert.deepEqual(results.map(({ modifiedCount }) => modifiedCount).sort(), [0, 1]);
      const after = await things.findOne({ _id: 'a' });
      assert.deepEqual([after?.status, after?.lease.fence, after?.outbox.length], ['running', 2, 1]);
    },
  ],
  [
    'an update says what it matched and what it changed',
    async (things) => {
      await things.insertMany([
        { _id: 'a', n: 1 },
        { _id: 'b', n: 2 },
        { _id: 'c', n: 2 },
      ]);
      const same = await things.updateOne({ _id: 'a' }, { $set: { n: 1 } });
      assert.deepEqual([same.matchedCount, same.modifiedCount, same.upsertedCount], [1, 0, 0]);
      const many = await things.updateMany({}, { $set: { n: 2 } });
      assert.deepEqual([many.matchedCount, many.modifiedCount], [3, 1]);
    },
  ],
  [
    'updateMany over the index that it changes meets each document once',
    async (things) => {
      await things.createIndex({ n: 1 });
      await things.insertMany(Array.from({ length: 400 }, (_, n) => ({ _id: String(n), n })));
      await things.updateMany({ n: { $gte: 0 } }, { $inc: { n: 1000 } });
      assert.equal(await things.countDocuments({ n: { $gte: 1000, $lt: 1400 } }), 400);
    },
  ],
  [
    'upsert makes a document out of the equal parts of the filter, the update and $setOnInsert',
    async (things) => {
      const upsert = (): Promise<{ upsertedId: unknown; matchedCount: number }> =>
        things.updateOne(
          { _id: 'a', org: { $eq: 'o' }, n: { $gte: 0 } },
          { $inc: { n: 5 }, $setOnInsert: { made: true } },
          { upsert: true },
        );
      assert.equal((await upsert()).upsertedId, 'a');
      assert.deepEqual(await things.findOne({}), { _id: 'a', org: 'o', n: 5, made: true });
      await things.updateOne({ _id: 'a' }, { $set: { made: false } });
      assert.deepEqual([(await upsert()).matchedCount, (await things.findOne({}))?.n], [1, 10]);
      assert.equal((await things.findOne({}))?.made, false);
    },
  ],
  [
    'the id cannot be changed, and two changes of one path are refused',
    async (things) => {
      await things.insertOne({ _id: 'a', n: 1 });
      await refused(things.updateOne({ _id: 'a' }, { $set: { _id: 'b' } } as never), 66);
      await refused(things.updateOne({ _id: 'a' }, { $set: { n: 2 }, $inc: { n: 1 } }), 40);
      await refused(things.updateOne({ _id: 'a' }, { $set: { 'v.w': 2 }, $unset: { v: '' } }), 40);
      assert.deepEqual(await things.find().toArray(), [{ _id: 'a', n: 1 }]);
    },
  ],
  [
    'a path through a number or a text is refused',
    async (things) => {
      await things.insertOne({ _id: 'a', n: 1, t: 'text', v: [1] });
      await refused(things.updateOne({ _id: 'a' }, { $set: { 'n.x': 1 } }));
      await refused(things.updateOne({ _id: 'a' }, { $set: { 't.x': 1 } }));
      await refused(things.updateOne({ _id: 'a' }, { $set: { 'v.x': 1 } }));
      await refused(things.updateOne({ _id: 'a' }, update({ $push: { n: 1 } })));
    },
  ],
  [
    'a path through null is refused',
    async (things) => {
      await things.insertOne({ _id: 'a', n: null });
      await refused(things.updateOne({ _id: 'a' }, { $set: { 'n.x': 1 } }), 28);
    },
  ],
];
