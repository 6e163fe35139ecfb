import assert from 'node:assert/strict';
import type { Check } from '../check.ts';
import { idsOf } from '../expect.ts';

export const findAndChangeChecks: readonly Check[] = [
  [
    'findOneAndUpdate gives the document before, or after when asked, or null',
    async (things) => {
      await things.insertOne({ _id: 'a', n: 1 });
      assert.deepEqual(await things.findOneAndUpdate({ _id: 'a' }, { $inc: { n: 1 } }), { _id: 'a', n: 1 });
      const after = await things.findOneAndUpdate({ _id: 'a' }, { $inc: { n: 1 } }, { returnDocument: 'after' });
      assert.deepEqual(after, { _id: 'a', n: 3 });
      assert.equal(await things.findOneAndUpdate({ _id: 'b' }, { $inc: { n: 1 } }), null);
    },
  ],
  [
    'findOneAndUpdate takes the first in an order and shows what a projection says',
    async (things) => {
      await things.insertMany([1, 3, 2].map((n) => ({ _id: `t${n}`, n, taken: false })));
      const options = { sort: { n: -1 as const }, returnDocument: 'after' as const, projection: { n: 1 } };
      assert.deepEqual(await things.findOneAndUpdate({ taken: false }, { $set: { taken: true } }, options), {
        _id: 't3',
        n: 3,
      });
      assert.deepEqual(await idsOf(things.find({ taken: false }).sort({ n: 1 })), ['t1', 't2']);
    },
  ],
  [
    'findOneAndUpdate with upsert gives null before and the document after',
    async (things) => {
      assert.equal(await things.findOneAndUpdate({ _id: 'a' }, { $set: { n: 1 } }, { upsert: true }), null);
      const after = await things.findOneAndUpdate(
        { _id: 'b' },
        { $inc: { n: 1 }, $setOnInsert: { made: 1 } },
        { upsert: true, returnDocument: 'after' },
      );
      assert.deepEqual(after, { _id: 'b', n: 1, made: 1 });
    },
  ],
  [
    'findOneAndReplace and findOneAndDelete give what was there',
    async (things) => {
      await things.insertMany([
        { _id: 'a', n: 1 },
        { _id: 'b', n: 2 },
      ]);
      assert.deepEqual(await things.findOneAndReplace({ n: 1 }, { m: 1 } as never), { _id: 'a', n: 1 });
      assert.deepEqual(await things.findOneAndDelete({}, { sort: { _id: -1 } }), { _id: 'b', n: 2 });
      assert.deepEqual(await things.find().toArray(), [{ _id: 'a', m: 1 }]);
    },
  ],
  [
    'many claims at once get a different document each, and the rest nothing',
    async (things) => {
      await things.createIndex({ status: 1, at: 1 });
      await things.insertMany(Array.from({ length: 50 }, (_, at) => ({ _id: `t${at}`, status: 'waiting', at })));
      const claims = await Promise.all(
        Array.from({ length: 80 }, (_, owner) =>
          things.findOneAndUpdate(
            { status: 'waiting' },
            { $set: { status: 'claimed', owner } },
            { sort: { at: 1 }, returnDocument: 'after' },
          ),
        ),
      );
      const taken = claims.flatMap((claim) => claim?._id ?? []);
      assert.deepEqual([taken.length, new Set(taken).size], [50, 50]);
    },
  ],
  [
    'many increments at once are all counted',
    async (things) => {
      await things.insertOne({ _id: 'a', n: 0 });
      await Promise.all(Array.from({ length: 200 }, () => things.updateOne({ _id: 'a' }, { $inc: { n: 1 } })));
      assert.equal((await things.findOne({ _id: 'a' }))?.n, 200);
    },
  ],
  [
    'many upserts of one id at once make one document',
    async (things) => {
      const upsert = (): Promise<unknown> => things.updateOne({ _id: 'a' }, { $inc: { n: 1 } }, { upsert: true });
      await Promise.all(Array.from({ length: 20 }, upsert));
      assert.deepEqual(await things.find().toArray(), [{ _id: 'a', n: 20 }]);
    },
  ],
];
