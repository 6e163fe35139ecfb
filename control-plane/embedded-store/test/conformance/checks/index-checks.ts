import assert from 'node:assert/strict';
import { MongoServerError } from 'mongodb';
import { isDuplicateKey } from '../../../src/duplicate-key.ts';
import { type Check, update } from '../check.ts';
import { errorOf, idsOf, refused, sortedIdsOf } from '../expect.ts';

export const indexChecks: readonly Check[] = [
  [
    'createIndex answers a name, twice is once, indexes and dropIndex know it',
    async (things) => {
      assert.equal(await things.createIndex({ org: 1, 'deep.at': -1 }), 'org_1_deep.at_-1');
      assert.equal(await things.createIndex({ org: 1, 'deep.at': -1 }), 'org_1_deep.at_-1');
      await things.createIndexes([{ key: { n: 1 }, name: 'by_n', unique: true }]);
      const known = (await things.indexes()).map(({ name, key, unique }) => ({ name, key: { ...key }, unique }));
      assert.deepEqual(
        known.sort((left, right) => String(left.name).localeCompare(String(right.name))),
        [
          { name: '_id_', key: { _id: 1 }, unique: undefined },
          { name: 'by_n', key: { n: 1 }, unique: true },
          { name: 'org_1_deep.at_-1', key: { org: 1, 'deep.at': -1 }, unique: undefined },
        ],
      );
      await things.dropIndex('by_n');
      await things.insertMany([
        { _id: 'a', n: 1 },
        { _id: 'b', n: 1 },
      ]);
      await refused(things.dropIndex('by_n'), 27);
    },
  ],
  [
    'a unique index refuses a second value on insert, update, replace and upsert, and changes nothing',
    async (things) => {
      await things.createIndex({ org: 1, slug: 1 }, { unique: true });
      await things.insertMany([
        { _id: 'a', org: 1, slug: 'x' },
        { _id: 'b', org: 1, slug: 'y' },
        { _id: 'c', org: 2, slug: 'x' },
      ]);
      const before = await things.find().sort({ _id: 1 }).toArray();
      const operations: (() => Promise<unknown>)[] = [
        () => things.insertOne({ _id: 'd', org: 1, slug: 'x' }),
        () => things.updateOne({ _id: 'b' }, { $set: { slug: 'x', other: 1 } }),
        () => things.replaceOne({ _id: 'b' }, { org: 1, slug: 'x' } as never),
        () => things.updateOne({ _id: 'e' }, { $set: { org: 2, slug: 'x' } }, { upsert: true }),
        () => things.findOneAndUpdate({ _id: 'b' }, { $set: { slug: 'x' } }),
      ];
      for (const operation of operations) {
        const error = await errorOf(operation());
        assert.ok(isDuplicateKey(error, 'org_1_slug_1'), String(error));
      }
      assert.deepEqual(await things.find().sort({ _id: 1 }).toArray(), before);
      await things.updateOne({ _id: 'a' }, { $set: { slug: 'z' } });
      await things.updateOne({ _id: 'b' }, { $set: { slug: 'x' } });
    },
  ],
  [
    'a collection can be written after an index of several could not be created',
    async (things) => {
      await things.insertMany([
        { _id: 'a', n: 1 },
        { _id: 'b', n: 1 },
      ]);
      const error = await errorOf(things.createIndexes([{ key: { m: 1 } }, { key: { n: 1 }, unique: true }]));
      assert.ok(isDuplicateKey(error), String(error));
      await things.insertOne({ _id: 'c', n: 1, m: 1 });
      assert.deepEqual(await sortedIdsOf(things.find({ m: 1 })), ['c']);
    },
  ],
  [
    'a value that looks like the name of an index is not mistaken for one in E11000',
    async (things) => {
      await things.insertOne({ _id: ' index: other_1 dup key: ' });
      const error = await errorOf(things.insertOne({ _id: ' index: other_1 dup key: ' }));
      assert.deepEqual([isDuplicateKey(error, '_id_'), isDuplicateKey(error, 'other_1')], [true, false]);
    },
  ],
  [
    'E11000 names the fields and the values',
    async (things) => {
      await things.createIndex({ org: 1, slug: -1 }, { unique: true });
      await things.insertOne({ _id: 'a', org: 1, slug: 'x' });
      const error = await errorOf(things.insertOne({ _id: 'b', org: 1, slug: 'x' }));
      assert.ok(error instanceof MongoServerError);
      assert.deepEqual({ ...error.keyPattern }, { org: 1, slug: -1 });
      assert.deepEqual({ ...error.keyValue }, { org: 1, slug: 'x' });
    },
  ],
  [
    'a unique index takes one document without the field, a sparse one any number',
    async (things) => {
      await things.createIndex({ v: 1 }, { unique: true });
      await things.createIndex({ w: 1 }, { unique: true, sparse: true });
      await things.insertOne({ _id: 'a', v: 1 });
      await things.insertOne({ _id: 'b' });
      await refused(things.insertOne({ _id: 'c' }), 11000);
      await things.insertOne({ _id: 'c', v: 2, w: 1 });
      await refused(things.insertOne({ _id: 'd', v: 3, w: 1 }), 11000);
      assert.deepEqual(await sortedIdsOf(things.find({ w: { $exists: false } })), ['a', 'b']);
      assert.deepEqual(await sortedIdsOf(things.find({ w: null })), ['a', 'b']);
      assert.deepEqual(await idsOf(things.find({ w: { $exists: true } })), ['c']);
      assert.deepEqual(
        (await idsOf(things.find().sort({ w: -1 }))).length,
        3,
        'an order shows those without the field too',
      );
    },
  ],
  [
    'a unique index over an array has each element once in the whole collection',
    async (things) => {
      await things.createIndex({ v: 1 }, { unique: true });
      await things.insertOne({ _id: 'a', v: ['x', 'y', 'y'] });
      await refused(things.insertOne({ _id: 'b', v: ['z', 'x'] }), 11000);
      await things.insertOne({ _id: 'b', v: ['z'] });
      await things.updateOne({ _id: 'a' }, update({ $pull: { v: 'x' } }));
      await things.updateOne({ _id: 'b' }, update({ $push: { v: 'x' } }));
      assert.deepEqual(await idsOf(things.find({ v: 'x' })), ['b']);
    },
  ],
  [
    'an index over an array finds and counts a document once',
    async (things) => {
      await things.createIndex({ org: 1, 'tags.slug': 1, at: -1 });
      await things.insertMany([
        { _id: 'a', org: 1, at: 1, tags: [{ slug: 'x' }, { slug: 'y' }] },
        { _id: 'b', org: 1, at: 2, tags: [{ slug: 'y' }, { slug: 'x' }] },
        { _id: 'c', org: 1, at: 3, tags: [] },
        { _id: 'd', org: 1, at: 4 },
      ]);
      const either = { org: 1, 'tags.slug': { $in: ['x', 'y'] } };
      assert.deepEqual(await idsOf(things.find(either).sort({ at: -1 })), ['b', 'a']);
      assert.equal(await things.countDocuments(either), 2);
      assert.deepEqual(await idsOf(things.find({ org: 1, 'tags.slug': 'x' }).sort({ at: -1 })), ['b', 'a']);
      assert.deepEqual(await idsOf(things.find({ org: 1 }).sort({ at: -1 })), ['d', 'c', 'b', 'a']);
    },
  ],
  [
    'an index is kept by every kind of change',
    async (things) => {
      await things.createIndex({ v: 1 });
      await things.insertMany([
        { _id: 'a', v: 1 },
        { _id: 'b', v: 2 },
        { _id: 'c', v: 3 },
      ]);
      await things.updateOne({ _id: 'a' }, { $set: { v: 9 } });
      await things.replaceOne({ _id: 'b' }, { v: [8, 7] } as never);
      await things.deleteOne({ _id: 'c' });
      await things.updateOne({ _id: 'd' }, { $set: { v: 6 } }, { upsert: true });
      const found = await Promise.all([1, 2, 3, 6, 7, 8, 9].map((v) => idsOf(things.find({ v }))));
      assert.deepEqual(found, [[], [], [], ['d'], ['b'], ['b'], ['a']]);
    },
  ],
  [
    'an index that is created later covers existing documents; a unique one is refused if there are duplicates',
    async (things) => {
      await things.insertMany([
        { _id: 'a', v: 1, w: 1 },
        { _id: 'b', v: 1, w: 2 },
      ]);
      await refused(things.createIndex({ v: 1 }, { unique: true }), 11000);
      await things.createIndex({ w: 1 }, { unique: true });
      await refused(things.insertOne({ _id: 'c', w: 2 }), 11000);
      assert.deepEqual(await idsOf(things.find({ w: 2 })), ['b']);
    },
  ],
  [
    'a sparse index on a time serves a queue of what is due, oldest first',
    async (things) => {
      await things.createIndex({ outbox_at: 1 }, { sparse: true });
      await things.insertMany([
        { _id: 'a', outbox_at: new Date(3), outbox: [1] },
        { _id: 'b', outbox: [] },
        { _id: 'c', outbox_at: new Date(1), outbox: [1] },
        { _id: 'd', outbox_at: new Date(9), outbox: [1] },
      ]);
      const due = (): Promise<unknown[]> =>
        idsOf(
          things
            .find({ outbox_at: { $lte: new Date(5) } })
            .sort({ outbox_at: 1 })
            .limit(10),
        );
      assert.deepEqual(await due(), ['c', 'a']);
      assert.deepEqual(await sortedIdsOf(things.find({ 'outbox.0': { $exists: true } })), ['a', 'c', 'd']);
      await things.updateOne({ _id: 'c' }, update({ $pull: { outbox: 1 }, $unset: { outbox_at: '' } }));
      assert.deepEqual(await due(), ['a']);
    },
  ],
  [
    'a sweep removes what a TTL index says has expired by then, and nothing else',
    async (things, store) => {
      await things.createIndex({ at: 1 }, { expireAfterSeconds: 60 });
      const now = new Date();
      const ago = (seconds: number): Date => new Date(now.getTime() - seconds * 1000);
      await things.insertMany([
        { _id: 'a', at: ago(61) },
        { _id: 'b', at: ago(10) },
        { _id: 'c', at: 'long ago' },
        { _id: 'd' },
      ]);
      assert.equal(await store.sweepExpired(now), 1);
      assert.deepEqual(await sortedIdsOf(things.find()), ['b', 'c', 'd']);
      assert.equal(await store.sweepExpired(new Date(now.getTime() + 60_000)), 1);
    },
  ],
  [
    'drop removes the documents and the indexes',
    async (things) => {
      await things.createIndex({ v: 1 }, { unique: true });
      await things.insertOne({ _id: 'a', v: 1 });
      await things.drop();
      await things.insertMany([
        { _id: 'a', v: 1 },
        { _id: 'b', v: 1 },
      ]);
      assert.equal(await things.countDocuments({ v: 1 }), 2);
    },
  ],
];
