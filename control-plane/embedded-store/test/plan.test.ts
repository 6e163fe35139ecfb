import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Document, Filter } from 'mongodb';
import { slow } from '../../../shared/test/support/slow.ts';
import { EmbeddedCollection } from '../src/collection.ts';
import { openEmbedded } from '../src/open-embedded.ts';
import { PAUSE, search } from '../src/search/find-rows.ts';
import { Database } from '../src/storage/database.ts';
import type { Collection, FindCursor, Store } from '../src/store-shape.ts';
import { fromBytes } from '../src/stored-document.ts';
import { sortComponents } from '../src/values/sort-order.ts';
import { insertDocument } from '../src/writes/write.ts';
import { dice } from './support/dice.ts';

/** What a search examined, and through which index (none: it read everything). */
async function planOf(cursor: FindCursor<unknown>) {
  const { queryPlanner, executionStats } = await cursor.explain();
  const { stage, inputStage } = queryPlanner.winningPlan;
  return { stage, index: inputStage?.indexName ?? inputStage?.inputStage?.indexName, ...executionStats };
}

type Place = { at: Date; _id: string };
const afterPlace = ({ at, _id }: Place) => ({ $or: [{ at: { $lt: at } }, { at, _id: { $lt: _id } }] });

describe('a plan of the embedded store', () => {
  type Scan = { _id: string; org: number; status: string; at: Date; tags: string[]; n: number };
  const SCANS = 5_000;
  let store: Store;
  let scans: Collection<Scan>;
  before(async () => {
    store = await openEmbedded(':memory:');
    scans = store.collection<Scan>('scans');
    await scans.createIndexes([
      { key: { org: 1, at: -1, _id: -1 }, name: 'by_time', countedPrefix: 1 },
      { key: { org: 1, status: 1, at: -1, _id: -1 }, name: 'by_status', countedPrefix: 2 },
      { key: { org: 1, tags: 1, at: -1, _id: -1 }, name: 'by_tag', countedPrefix: 2 },
    ]);
    const scanOf = (n: number): Scan => ({
      _id: String(n).padStart(5, '0'),
      org: n % 2,
      status: n % 100 === 0 ? 'failed' : 'completed',
      // Four scans of an organization share each moment.
      at: new Date(1_700_000_000_000 + Math.floor(n / 8) * 1000),
      tags: [n % 3 === 0 ? 'a' : 'b', 'c'].slice(0, n % 4),
      n,
    });
    await scans.insertMany(Array.from({ length: SCANS }, (_, n) => scanOf(n)));
  });
  after(() => store.close());

  const newest = { at: -1, _id: -1 } as const;

  it('reads no more than a page of the list, unfiltered and by a filter that has an index', async () => {
    for (const [filter, index] of [
      [{ org: 1 }, 'by_time'],
      [{ org: 0, status: 'failed' }, 'by_status'],
      [{ org: 1, tags: 'a' }, 'by_tag'],
    ] as const) {
      const plan = await planOf(scans.find(filter).sort(newest).limit(20));
      assert.deepEqual(plan, { stage: 'FETCH', index, nReturned: 20, totalDocsExamined: 20 });
    }
  });

  it('reports a sort in memory, and a search that reads every document', async () => {
    const sorted = await planOf(scans.find({ org: 1 }).sort({ n: 1 }).limit(5));
    assert.deepEqual([sorted.stage, sorted.totalDocsExamined], ['SORT', SCANS / 2]);
    const whole = await planOf(scans.find({ n: 7 }));
    assert.deepEqual(whole, { stage: 'COLLSCAN', index: undefined, nReturned: 1, totalDocsExamined: SCANS });
  });

  it('finds the document of a compare-and-set by its id', async () => {
    const plan = await planOf(scans.find({ _id: '00001', org: 1, status: 'completed' }));
    assert.deepEqual(plan, { stage: 'FETCH', index: '_id_', nReturned: 1, totalDocsExamined: 1 });
  });

  it('continues after any document without reading those before it', async () => {
    const all = await scans.find({ org: 1 }).sort(newest).toArray();
    for (const at of [0, 1, 2, 3, 1_000, 2_400]) {
      const after = afterPlace(all[at]!);
      for (const filter of [{ org: 1, ...after }, { $and: [{ org: 1 }, after] }]) {
        const page = scans.find(filter).sort(newest).limit(50);
        const expected = all.slice(at + 1, at + 51).map((scan) => scan._id);
        assert.deepEqual(
          (await page.toArray()).map((scan) => scan._id),
          expected,
        );
        const plan = await planOf(scans.find(filter).sort(newest).limit(50));
        assert.deepEqual(plan, { stage: 'FETCH', index: 'by_time', nReturned: 50, totalDocsExamined: 50 });
      }
    }
  });

  it('merges the ranges of an index that several values select, from any position', async () => {
    const everything = await scans.find().sort(newest).toArray();
    for (const [filter, index, matches] of [
      [{ org: 1, status: { $in: ['failed', 'completed'] } }, 'by_status', (scan: Scan) => scan.org === 1],
      [{ org: { $in: [0, 1] } }, 'by_time', () => true],
      [{ org: 1, tags: { $in: ['a', 'c', 'none'] } }, 'by_tag', ({ org, tags }: Scan) => org === 1 && tags.length > 0],
    ] as const) {
      const all = everything.filter(matches).filter(({ tags }) => index !== 'by_tag' || !/^b$/.test(tags.join()));
      for (const at of [-1, 0, 3, 700]) {
        const where = at < 0 ? filter : { ...filter, ...afterPlace(all[at]!) };
        const page = await scans.find(where).sort(newest).limit(50).toArray();
        assert.deepEqual(
          page.map((scan) => scan._id),
          all.slice(at + 1, at + 51).map((scan) => scan._id),
        );
        const plan = await planOf(scans.find(where).sort(newest).limit(50));
        assert.deepEqual([plan.stage, plan.index, plan.nReturned], ['FETCH', index, 50]);
        // A document with two of the values is met twice.
        assert.ok(plan.totalDocsExamined <= 100, `${plan.totalDocsExamined} examined`);
      }
    }
  });

  it('tests a pattern on the entries of an index that has the text, and reads the documents that match', async () => {
    const pages = store.collection<{ _id: string; owner: string; at: Date; url: string }>('pages');
    await pages.createIndex({ owner: 1, at: -1, _id: -1, url: 1 });
    await pages.insertMany(
      Array.from({ length: 2_000 }, (_, n) => ({
        _id: String(n),
        owner: n % 2 === 0 ? 'ours' : 'theirs',
        at: new Date(n),
        url: `https://Shop-${n}.example/`,
      })),
    );
    const filter = { owner: 'ours', url: { $regex: 'shop-17\\d\\d?\\.', $options: 'i' } };
    const plan = await planOf(pages.find(filter).sort({ at: -1, _id: -1 }).limit(50));
    assert.deepEqual(plan, {
      stage: 'FETCH',
      index: 'owner_1_at_-1__id_-1_url_1',
      nReturned: 50,
      totalDocsExamined: 50,
    });
    assert.equal(await pages.countDocuments(filter), 55);
    const found = await pages.find(filter).sort({ at: -1, _id: -1 }).toArray();
    assert.deepEqual([found.length, found[0]?._id, found.at(-1)?._id], [55, '1798', '170']);
  });

  it('reads of each owner only what is within the bounds of the next field, forward and backward', async () => {
    const jobs = store.collection<{ _id: string; owner: string; at?: Date }>('jobs');
    await jobs.createIndex({ owner: 1, at: 1 });
    const ofOwner = (owner: string) =>
      Array.from({ length: 300 }, (_, n) => ({ _id: `${owner}${n}`, owner, ...(n > 99 && { at: new Date(n) }) }));
    await jobs.insertMany(['a', 'b', 'c', 'd'].flatMap(ofOwner));
    const filter = { owner: { $gt: 'a' }, at: { $gte: new Date(198), $lt: new Date(200) } };
    const expected = ['b198', 'b199', 'c198', 'c199', 'd198', 'd199'];
    for (const [way, ids] of [
      [1, expected],
      [-1, expected.toReversed()],
    ] as const) {
      const found = () => jobs.find(filter).sort({ owner: way, at: way });
      assert.deepEqual(
        (await found().toArray()).map(({ _id }) => _id),
        ids,
      );
      const plan = { stage: 'FETCH', index: 'owner_1_at_1', nReturned: 6, totalDocsExamined: 6 };
      assert.deepEqual(await planOf(found()), plan);
    }
    assert.equal(await jobs.countDocuments(filter), 6);
    assert.deepEqual(await jobs.find({ owner: { $gt: 'a' }, at: { $lt: new Date(0) } }).toArray(), []);
  });

  it('reads the entries of several indexes in parallel, and only documents that are in all of them', async () => {
    const everything = await scans.find().sort(newest).toArray();
    const questions: [Filter<Scan>, (scan: Scan) => boolean][] = [
      [
        { org: 0, status: 'failed', tags: 'a' },
        ({ org, status, tags }: Scan) => org === 0 && status === 'failed' && tags.includes('a'),
      ],
      [
        { $and: [{ org: 1 }, { tags: 'a' }, { tags: 'c' }] },
        ({ org, tags }: Scan) => org === 1 && tags.includes('a') && tags.includes('c'),
      ],
      [
        { org: 1, status: { $in: ['failed', 'completed'] }, tags: { $in: ['a', 'c'] } },
        ({ org, tags }: Scan) => org === 1 && (tags.includes('a') || tags.includes('c')),
      ],
      [{ $and: [{ org: 1 }, { tags: 'a' }, { tags: 'b' }] }, () => false],
    ];
    for (const [filter, matches] of questions) {
      const all = everything.filter(matches);
      assert.equal(await scans.countDocuments(filter), all.length);
      for (const skip of [0, 7, 200, 5_000]) {
        const page = await scans.find(filter).sort(newest).skip(skip).limit(20).toArray();
        assert.deepEqual(
          page.map(({ _id }) => _id),
          all.slice(skip, skip + 20).map(({ _id }) => _id),
        );
        const { executionStats } = await scans.find(filter).sort(newest).skip(skip).limit(20).explain();
        assert.equal(executionStats.totalDocsExamined, page.length);
      }
      const after = afterPlace(all[3] ?? everything[3]!);
      const rest = await scans
        .find({ $and: [filter, after] })
        .sort(newest)
        .toArray();
      assert.deepEqual(
        rest.map(({ _id }) => _id),
        all.slice(4).map(({ _id }) => _id),
      );
    }
    const { queryPlanner } = await scans.find({ org: 0, status: 'failed', tags: 'a' }).sort(newest).explain();
    assert.equal(queryPlanner.winningPlan.inputStage.stage, 'AND_SORTED');
  });

  it('reads no document of the pages before a deep one, forward and backward', slow, async () => {
    const many = store.collection<{ _id: number; org: number; at: number }>('many');
    await many.createIndex({ org: 1, at: -1, _id: -1 });
    await many.insertMany(Array.from({ length: 25_000 }, (_, n) => ({ _id: n, org: n % 2, at: Math.floor(n / 3) })));
    for (const direction of [-1, 1] as const)
      for (const skip of [0, 15, 16, 17, 9_999, 10_000, 12_345, 12_499, 12_500, 30_000]) {
        const page = () => many.find({ org: 1 }).sort({ at: direction, _id: direction }).skip(skip).limit(10);
        const { executionStats } = await page().explain();
        const expected = Array.from({ length: 12_500 }, (_, n) => (direction < 0 ? 24_999 - 2 * n : 2 * n + 1));
        assert.deepEqual(
          (await page().toArray()).map(({ _id }) => _id),
          expected.slice(skip, skip + 10),
        );
        assert.equal(executionStats.totalDocsExamined, executionStats.nReturned);
      }
  });

  it('chooses the index with the fewest documents, counted up to a limit', async () => {
    const both = { org: 0, status: 'failed', at: { $gt: new Date(0) } };
    const plan = await planOf(scans.find({ ...both, n: { $gte: 0 } }).sort(newest));
    assert.deepEqual(plan, { stage: 'FETCH', index: 'by_status', nReturned: 50, totalDocsExamined: 50 });
  });

  it('yields to other work while it reads and counts', async () => {
    const things = store.collection<{ _id: number; at: number }>('things');
    await things.createIndex({ at: 1 });
    await things.insertMany(Array.from({ length: 25_000 }, (_, n) => ({ _id: n, at: n % 1000 })));
    for (const work of [
      () => things.find({ _id: { $gte: 0 } }).toArray(),
      () => things.countDocuments({ at: { $gte: 1 } }),
    ]) {
      let turns = 0;
      const timer = setInterval(() => turns++, 0);
      const found = await work();
      clearInterval(timer);
      if (Array.isArray(found)) assert.ok(found.length === 25_000 && turns > 0, `${turns} turns`);
      else assert.equal(found, 24_975);
    }
  });

  it('yields to other work between large documents, of which none matches', () => {
    const database = new Database(':memory:');
    const things = database.collection('things');
    for (let n = 0; n < 16; n++) insertDocument(things, { _id: n, text: 'x'.repeat(600_000) });
    const steps = [...search(things, { text: 'y' })];
    assert.deepEqual(new Set(steps), new Set([PAUSE]));
    assert.ok(steps.length >= 16, `${steps.length} pauses`);
    database.close();
  });

  it('yields to other work between documents that were put in order and are not shown', () => {
    const database = new Database(':memory:');
    const things = database.collection('things');
    for (let n = 0; n < 100; n++) insertDocument(things, { _id: n, org: 'o', n, text: 'x'.repeat(10_000) });
    const pausesOf = (skip: number) =>
      [...search(things, { org: 'o' }, { order: sortComponents({ n: -1 }), skip, limit: 1 })].filter(
        (step) => step === PAUSE,
      ).length;
    const [first, last] = [pausesOf(0), pausesOf(99)];
    assert.ok(last >= first + 20, `${last} and ${first} pauses`);
    database.close();
  });

  it('yields to other work between reading a large update and writing it', async () => {
    const database = new Database(':memory:');
    const records = database.collection('things');
    const things = new EmbeddedCollection(database, 'things');
    insertDocument(records, { _id: 1 });
    const stored = () => fromBytes(records.page(0, 1)[0]!.bytes).text;
    await things.updateOne({ _id: 1 }, { $set: { text: 'small' } });
    const updating = things.updateOne({ _id: 1 }, { $set: { text: 'x'.repeat(100_000) } });
    assert.equal(stored(), 'small');
    await updating;
    assert.equal(String(stored()).length, 100_000);
    database.close();
  });
});

describe('an index that counts by a prefix', () => {
  const DIMENSIONS: Document[] = [
    { org: 1 },
    { org: { $in: [0, 1, 2] } },
    { org: 1, status: 'a' },
    { org: 1, status: { $in: ['a', 'b'] } },
    { org: 1, status: null },
    { org: 2, tags: 'x' },
    { org: 2, tags: { $in: ['x', 'y'] } },
    { org: 2, tags: null },
    { org: 1, status: 'a', at: { $gt: 3 } },
    { status: 'a' },
  ];
  const CHANGES = Number(process.env.ADSWEEP_TEST_RUNS ?? 600);
  const INDEXES: [Record<string, 1 | -1>, number][] = [
    [{ org: 1, at: -1 }, 1],
    [{ org: 1, status: 1, at: -1 }, 2],
    [{ org: 1, tags: 1, at: -1 }, 2],
  ];

  it('counts the same as reading every document, through random changes', slow, async () => {
    const store = await openEmbedded(':memory:');
    const [bare, counted] = [store.collection('bare'), store.collection('counted')];
    for (const [keys, countedPrefix] of INDEXES) await counted.createIndex(keys, { countedPrefix });
    const roll = dice(23);
    const pick = (...values: unknown[]): unknown => values[roll(values.length)];
    const fields = () => ({
      org: roll(3),
      status: pick('a', 'b', null, undefined),
      at: roll(9),
      tags: pick([], ['x'], ['x', 'y'], 'x', ['x', 'x'], undefined),
    });
    for (let round = 0; round < CHANGES; round++) {
      const [_id, some] = [roll(120) as never, fields()];
      const change = roll(4);
      for (const things of [bare, counted]) {
        if (change === 0) await things.deleteOne({ _id });
        else await things.replaceOne({ _id }, structuredClone(some), { upsert: true });
      }
      const filter = DIMENSIONS[round % DIMENSIONS.length]!;
      const message = `${round}: ${JSON.stringify(filter)}`;
      assert.equal(await counted.countDocuments(filter), await bare.countDocuments(filter), message);
    }
    await store.close();
  });

  it('counts documents that existed before it, is unchanged by a refused write, and keeps its counts when the store is opened again', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'adsweep-counts-'));
    const path = join(folder, 'store.db');
    const first = await openEmbedded(path);
    const things = first.collection<{ _id: number; org: number }>('things');
    await things.insertMany(Array.from({ length: 30 }, (_, n) => ({ _id: n, org: n % 3 })));
    await things.createIndex({ org: 1, _id: 1 });
    await things.createIndex({ org: 1, _id: 1 }, { countedPrefix: 1 });
    await assert.rejects(
      things.insertMany([
        { _id: 30, org: 1 },
        { _id: 1, org: 1 },
      ]),
    );
    await assert.rejects(things.updateMany({ org: 1 }, { $set: { org: 7, _id: 1 } } as never));
    assert.equal(await things.countDocuments({ org: 1 }), 11);
    await first.close();
    const second = await openEmbedded(path);
    assert.equal(await second.collection('things').countDocuments({ org: 1 }), 11);
    assert.equal(await second.collection('things').countDocuments({ org: 7 }), 0);
    await second.close();
    await rm(folder, { recursive: true });
  });

  it('is refused with options that exclude counting', async () => {
    const store = await openEmbedded(':memory:');
    const things = store.collection('things');
    for (const countedPrefix of [0, 2])
      await assert.rejects(things.createIndex({ a: 1 }, { countedPrefix }), /cannot count/);
    await assert.rejects(things.createIndex({ a: 1 }, { countedPrefix: 1, sparse: true }), /cannot count/);
    await store.close();
  });
});
