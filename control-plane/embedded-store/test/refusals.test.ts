import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Document } from 'mongodb';
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
