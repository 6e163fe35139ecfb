import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Document } from 'mongodb';
import { openEmbedded } from '../src/open-embedded.ts';
import type { Collection, Store } from '../src/store-shape.ts';
import { dice } from './support/dice.ts';

const VALUES = [
  0,
  1,
  2,
  3,
  -1,
  1.5,
  'a',
  'b',
  'ab',
  '',
  null,
  true,
  new Date(0),
  new Date(5),
  undefined,
  { x: 1 },
  'b\0a',
  'Bä',
  /b/,
];
const FIELDS = ['p', 'q', 'r.s'];
const INDEXES: Record<string, 1 | -1>[] = [
  { p: 1 },
  { p: -1, q: 1 },
  { q: 1, p: 1, _id: 1 },
  { 'r.s': 1, q: -1 },
  { p: 1, 'r.s': -1, q: 1 },
  { 'r.s': 1, _id: 1 },
  { p: 1, 'r.s': 1, _id: -1 },
  { p: 1, _id: 1 },
  { q: 1, _id: 1 },
];
const SPARSE_INDEXES: Record<string, 1 | -1>[] = [{ q: -1 }, { 'r.s': 1 }, { q: 1, 'r.s': -1 }];

function randomDocument(roll: (sides: number) => number, id: number): Document {
  const one = (): unknown => VALUES[roll(VALUES.length)];
  const s = roll(3) === 0 ? Array.from({ length: roll(4) }, one).map((value) => value ?? null) : one();
  const r = roll(4) === 0 ? [{ s: one() }, { s: one() }, {}].slice(0, roll(4)) : { s };
  return { _id: String(id).padStart(4, '0'), p: one(), q: one(), r: roll(6) === 0 ? one() : r };
}

function randomFilter(roll: (sides: number) => number): Document {
  const value = (): unknown => VALUES[roll(VALUES.length)] ?? null;
  const plain = (): unknown => VALUES[roll(9)];
  const conditions: (() => unknown)[] = [
    value,
    () => ({ $in: [value(), value(), value()] }),
    () => ({ $gte: plain() }),
    () => ({ $gt: plain(), $lte: plain() }),
    () => ({ $lt: plain() }),
    () => ({ $ne: value() }),
    () => ({ $exists: roll(2) === 1 }),
    () => ({ $gt: plain(), $in: [plain(), plain()] }),
    () => ({ $regex: ['A', 'b', '^$'][roll(3)]!, $options: 'i' }),
  ];
  const some = (): Document => {
    const fields = FIELDS.filter(() => roll(2) === 0);
    return Object.fromEntries(fields.map((field) => [field, conditions[roll(conditions.length)]!()]));
  };
  return roll(3) === 0 ? { ...some(), $or: [some(), some()] } : some();
}

function randomSort(roll: (sides: number) => number): Record<string, 1 | -1> {
  const fields = FIELDS.filter(() => roll(3) === 0).toSorted(() => roll(3) - 1);
  return Object.fromEntries([...fields, '_id'].map((field) => [field, roll(2) === 0 ? 1 : -1]));
}

const ROUNDS = Number(process.env.ADSWEEP_TEST_RUNS ?? 400);

describe('indexes of the embedded store', () => {
  let store: Store;
  let bare: Collection;
  let indexed: Collection;
  before(async () => {
    store = await openEmbedded(':memory:');
    [bare, indexed] = [store.collection('bare'), store.collection('indexed')];
    const roll = dice(7);
    const documents = Array.from({ length: 150 }, (_, id) => randomDocument(roll, id));
    await bare.insertMany(structuredClone(documents));
    for (const keys of INDEXES) await indexed.createIndex(keys);
    for (const keys of SPARSE_INDEXES) await indexed.createIndex(keys, { sparse: true });
    await indexed.insertMany(structuredClone(documents));
  });
  after(() => store.close());

  it('give the same results as a scan of the collection: random filters, sorts and pages', async () => {
    const roll = dice(11);
    for (let round = 0; round < ROUNDS; round++) {
      const [filter, sort] = [randomFilter(roll), randomSort(roll)];
      const [skip, limit] = [roll(3) * 5, roll(3) * 10];
      const page = async (things: Collection): Promise<unknown[]> =>
        (await things.find(filter).sort(sort).skip(skip).limit(limit).toArray()).map(({ _id }) => _id);
      const message = JSON.stringify({ filter, sort, skip, limit });
      assert.deepEqual(await page(indexed), await page(bare), message);
      assert.equal(await indexed.countDocuments(filter), await bare.countDocuments(filter), message);
    }
  });

  it('still give the same results after random changes', async () => {
    const roll = dice(13);
    for (let round = 0; round < ROUNDS / 2; round++) {
      const [filter, fresh] = [randomFilter(roll), randomDocument(roll, 0)];
      const { _id, ...fields } = fresh;
      const changes = Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, value ?? null]));
      for (const things of [bare, indexed]) await things.updateOne(filter, { $set: changes }, { sort: { _id: 1 } });
    }
    const roll2 = dice(17);
    for (let round = 0; round < ROUNDS / 2; round++) {
      const filter = randomFilter(roll2);
      const found = await Promise.all([bare, indexed].map((things) => things.find(filter).sort({ _id: 1 }).toArray()));
      assert.deepEqual(found[1], found[0], JSON.stringify(filter));
    }
  });
});
