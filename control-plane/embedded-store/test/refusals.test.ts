import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Document } from 'mongodb';
import { slow } from '../../../shared/test/support/slow.ts';
import { openEmbedded } from '../src/open-embedded.ts';
import type { Collection, Store } from '../src/store-shape.ts';

describe('an operation that only MongoDB supports', () => {
  let store: Store;
  let things: Collection<Document & { _id: string }>;
  const stored = { _id: 'a', n: 4, v: [1, 2] };
  before(async () => {
    store = await openEmbedded(':memory:');
    things = store.collection('things');
    await things.insertOne({ ...stored });
  });
  after(() => store.close());

  for (const filter of [
    { n: { $mod: [2, 0] } },
    { n: { $type: 'number' } },
    { n: { $not: { $gt: 9 } } },
    { $nor: [{ n: 1 }] },
    { $expr: { $gt: ['$n', 1] } },
  ])
    it(`is refused in a filter, never ignored: ${JSON.stringify(filter)}`, async () => {
      await assert.rejects(things.find(filter).toArray(), { code: 2 });
    });

  for (const update of [
    { $mul: { n: 2 } },
    { $rename: { n: 'm' } },
    { $pop: { v: 1 } },
    { $pullAll: { v: [1] } },
    { $push: { v: { $each: [3], $slice: 1 } } },
    { $set: { 'v.$[]': 0 } },
  ])
    it(`is refused in an update, never ignored: ${JSON.stringify(update)}`, async () => {
      await assert.rejects(things.updateOne({ _id: 'a' }, update as Document), { code: 2 });
      assert.deepEqual(await things.findOne({}), stored);
    });

  it('is refused as an option of an update', async () => {
    const options = { arrayFilters: [{ 'x.n': 1 }] };
    await assert.rejects(things.updateOne({ _id: 'a' }, { $set: { n: 1 } }, options), /arrayFilters/);
  });
});

describe('a search of the embedded store', () => {
  it('ends with the error of the server when its maxTimeMS is used up', async () => {
    const store = await openEmbedded(':memory:');
    const things = store.collection<{ _id: number; text: string }>('things');
    await things.insertMany(Array.from({ length: 3_000 }, (_, _id) => ({ _id, text: `${'x'.repeat(2_000)}${_id}` })));
    const never = { text: { $regex: 'y' } };
    await assert.rejects(things.find(never, { maxTimeMS: 1 }).toArray(), { code: 50 });
    await assert.rejects(things.countDocuments(never, { maxTimeMS: 1 }), { code: 50 });
    assert.equal(await things.countDocuments({ _id: 1 }, { maxTimeMS: 60_000 }), 1);
    await store.close();
  });

  it(
    'finds a long text in long texts as a regular expression does, in a time that grows with the length of the text alone',
    slow,
    async () => {
      const store = await openEmbedded(':memory:');
      const things = store.collection<{ _id: number; text: string }>('things');
      const padding = 'Ax'.repeat(200_000);
      const texts = [
        `${padding}b`,
        `${padding}B é ſ K`,
        padding,
        `${padding.slice(0, 200_000)}b${padding.slice(0, 100_000)}`,
      ];
      await things.insertMany(texts.map((text, _id) => ({ _id, text })));
      const idsWith = async (pattern: string, options: string) =>
        (await things.find({ text: { $regex: pattern, $options: options } }).toArray()).map(({ _id }) => _id);
      const long = 'aX'.repeat(50_000);
      // A search that compares at each position would take 20 billion steps for each text.
      assert.deepEqual(await idsWith(`${long}b`, 'i'), [0, 1, 3]);
      assert.deepEqual(await idsWith(`${'Ax'.repeat(50_000)}b`, ''), [0, 3]);
      assert.deepEqual(await idsWith(`b${long}`, 'i'), [3]);
      assert.deepEqual(await idsWith(`${long}B É`, 'i'), [1]);
      assert.deepEqual(await idsWith(`${long}b é s`, 'i'), []);
      assert.deepEqual(await idsWith(`${long}\\.`, 'i'), []);
      await store.close();
    },
  );
});
