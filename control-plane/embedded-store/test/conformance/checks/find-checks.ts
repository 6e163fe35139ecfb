import assert from 'node:assert/strict';
import { setImmediate } from 'node:timers/promises';
import type { Collection } from '../../../src/store-shape.ts';
import type { Anything, Check } from '../check.ts';
import { idsOf } from '../expect.ts';

const name = (n: number): string => `t${String(n).padStart(3, '0')}`;

async function fill(things: Collection<Anything>, count: number): Promise<void> {
  await things.insertMany(
    Array.from({ length: count }, (_, n) => ({
      _id: name(n),
      n,
      org: `org${n % 2}`,
      deep: { a: n, b: [{ c: n, d: 0 }] },
    })),
  );
}

export const findChecks: readonly Check[] = [
  [
    'find gives what matches; next, hasNext and for await read one document at a time',
    async (things) => {
      await fill(things, 5);
      const cursor = things.find({ n: { $gte: 3 } }).sort({ n: 1 });
      assert.equal(await cursor.hasNext(), true);
      assert.equal((await cursor.next())?._id, 't003');
      assert.equal((await cursor.next())?._id, 't004');
      assert.deepEqual([await cursor.hasNext(), await cursor.next()], [false, null]);
      const seen: number[] = [];
      for await (const { n } of things.find().sort('n', -1)) seen.push(n);
      assert.deepEqual(seen, [4, 3, 2, 1, 0]);
    },
  ],
  [
    'sort, skip and limit make pages that do not overlap and leave nothing out',
    async (things) => {
      await fill(things, 25);
      const pages = await Promise.all(
        [0, 10, 20, 30].map((skip) => idsOf(things.find({}).sort({ org: 1, n: -1 }).skip(skip).limit(10))),
      );
      assert.deepEqual(
        pages.map(({ length }) => length),
        [10, 10, 5, 0],
      );
      const expected = [...Array(25).keys()].sort((a, b) => (a % 2) - (b % 2) || b - a).map(name);
      assert.deepEqual(pages.flat(), expected);
    },
  ],
  [
    'a page in the order of an index is the same page as without the index',
    async (things) => {
      await fill(things, 60);
      const page = (): Promise<unknown[]> =>
        idsOf(
          things
            .find({ org: 'org1', n: { $lt: 50 } })
            .sort({ n: -1, _id: -1 })
            .skip(5)
            .limit(7),
        );
      const without = await page();
      await things.createIndex({ org: 1, n: -1, _id: -1 });
      assert.deepEqual(await page(), without);
      assert.deepEqual(without, [39, 37, 35, 33, 31, 29, 27].map(name));
    },
  ],
  [
    'a cursor over many documents takes them in batches, each once',
    async (things) => {
      await fill(things, 1000);
      const seen = new Set<string>();
      for await (const { _id } of things.find({}, { batchSize: 50 })) seen.add(_id);
      assert.equal(seen.size, 1000);
    },
  ],
  [
    'a cursor can be closed before it is read, in the middle, and twice',
    async (things) => {
      await fill(things, 3);
      await things.find().close();
      const cursor = things.find();
      await cursor.next();
      await cursor.close();
      await cursor.close();
      for await (const _ of things.find()) break;
      assert.equal(await things.countDocuments(), 3);
    },
  ],
  [
    'a document that is deleted while a cursor is open causes no error',
    async (things) => {
      await fill(things, 300);
      const cursor = things.find().sort({ _id: 1 });
      assert.equal((await cursor.next())?._id, 't000');
      await things.deleteMany({});
      let others = 0;
      for await (const _ of cursor) others += 1;
      assert.ok(others < 300);
    },
  ],
  [
    'a projection shows the fields named, and the id unless it is left out',
    async (things) => {
      await fill(things, 1);
      assert.deepEqual(await things.findOne({}, { projection: { n: 1 } }), { _id: 't000', n: 0 });
      assert.deepEqual(await things.findOne({}, { projection: { n: 1, _id: 0 } }), { n: 0 });
      assert.deepEqual(await things.findOne({}, { projection: { 'deep.a': 1, _id: 0 } }), { deep: { a: 0 } });
      assert.deepEqual(await things.findOne({}, { projection: { 'deep.b.c': 1, _id: 0 } }), {
        deep: { b: [{ c: 0 }] },
      });
      assert.deepEqual(await things.findOne({}, { projection: { _id: 1 } }), { _id: 't000' });
      assert.deepEqual(await things.find().project({ missing: 1 }).toArray(), [{ _id: 't000' }]);
    },
  ],
  [
    'a projection leaves out the fields named',
    async (things) => {
      await fill(things, 1);
      assert.deepEqual(await things.findOne({}, { projection: { deep: 0, org: 0 } }), { _id: 't000', n: 0 });
      assert.deepEqual(await things.findOne({}, { projection: { _id: 0, n: 0, org: 0, 'deep.b.c': 0 } }), {
        deep: { a: 0, b: [{ d: 0 }] },
      });
    },
  ],
  [
    'countDocuments counts what matches, with and without an index',
    async (things) => {
      await fill(things, 30);
      const counts = (): Promise<number[]> =>
        Promise.all([
          things.countDocuments(),
          things.countDocuments({ org: 'org0' }),
          things.countDocuments({ org: 'org0', n: { $gt: 10, $lte: 20 } }),
          things.countDocuments({ org: { $in: ['org0', 'org1', 'none'] }, 'deep.a': 4 }),
          things.countDocuments({ org: 'none' }),
          things.countDocuments({ org: 'org0' }, { limit: 4 }),
        ]);
      assert.deepEqual(await counts(), [30, 15, 5, 1, 0, 4]);
      await things.createIndex({ org: 1, n: 1 });
      assert.deepEqual(await counts(), [30, 15, 5, 1, 0, 4]);
    },
  ],
  [
    'a document that stops matching while a search goes on is not given as one that does not match',
    async (things) => {
      const all = Array.from({ length: 400 }, (_, n) => ({
        _id: name(n),
        org: 'o',
        at: n,
        n,
        url: `https://${n}.example/`,
      }));
      const pad = 'x'.repeat(20_000);
      // In the order of no index, and of an index whose entries are tested with a pattern.
      const searches = [
        () => things.find({ org: 'o' }).sort({ n: 1 }),
        () => things.find({ org: 'o', url: { $regex: 'example' } }).sort({ at: 1 }),
      ];
      await things.createIndex({ org: 1, at: -1, url: 1 });
      for (const search of searches) {
        await things.deleteMany({});
        await things.insertMany(all.map((one) => ({ ...one, pad })));
        const change = async () => {
          for (const { _id, n } of all.toReversed()) {
            await things.updateOne({ _id }, { $set: { org: 'other' } });
            if (n % 4 === 0) await setImmediate();
          }
        };
        const [found] = await Promise.all([search().toArray(), change()]);
        assert.deepEqual(
          found.filter(({ org }) => org !== 'o').map(({ _id }) => _id),
          [],
        );
      }
    },
  ],
  [
    'distinct gives each value once, those inside arrays too',
    async (things) => {
      await things.insertMany([
        { _id: 'a', tags: [{ slug: 'x' }, { slug: 'y' }] },
        { _id: 'b', tags: [{ slug: 'x' }] },
        { _id: 'c', tags: [] },
        { _id: 'd' },
      ]);
      assert.deepEqual((await things.distinct('tags.slug')).sort(), ['x', 'y']);
      assert.deepEqual(await things.distinct('tags.slug', { _id: 'b' }), ['x']);
    },
  ],
];
