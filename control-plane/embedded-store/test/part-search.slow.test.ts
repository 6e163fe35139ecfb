import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Document } from 'mongodb';
import { openEmbedded } from '../src/open-embedded.ts';
import type { Collection, Store } from '../src/store-shape.ts';

type Page = { _id: string; owner: string; url: string | string[] | null; state?: string };

const KEYS = { owner: 1, _id: -1, url: 1 } as const;
const OPTIONS = { countedPrefix: 1, partsOf: 'url' };
const PAGES = 6_000;
/** Numbers that look random and are the same in every run. */
const mixed = (n: number): number => Math.imul(n, 2654435761) >>> 0;
const urlOf = (n: number): string => `https://Shop-${n % 300}.example/${mixed(n).toString(36)}?n=${n}`;
const idOf = (n: number): string => String(n).padStart(5, '0');
const pageOf = (n: number): Page => ({ _id: idOf(n), owner: n % 4 === 0 ? 'theirs' : 'ours', url: urlOf(n) });
const pages = (from: number, to: number): Page[] => Array.from({ length: to - from }, (_, at) => pageOf(from + at));
const containing = (part: string) => ({
  $regex: part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&').replaceAll('\0', '\\x00'),
  $options: 'i',
});
const idsOf = async (things: Collection<Page>, filter: Document) =>
  (await things.find(filter).sort({ _id: -1 }).toArray()).map(({ _id }) => _id);
const examinedBy = async (things: Collection<Page>, filter: Document): Promise<number> =>
  (await things.find(filter).sort({ _id: -1 }).limit(50).explain()).executionStats.totalDocsExamined;

describe('an index of the parts of a text', () => {
  let store: Store;
  let things: Collection<Page>;
  before(async () => {
    store = await openEmbedded(':memory:');
    things = store.collection<Page>('pages');
    await things.createIndex(KEYS, OPTIONS);
    await things.insertMany(pages(0, PAGES));
  });
  after(() => store.close());

  it('finds a rare part without reading other documents, whatever other conditions there are', async () => {
    for (const [part, more] of [
      ['shop-77.example/', {}],
      [`?n=${PAGES - 2}`, {}],
      ['nowhere', {}],
      [`/${mixed(41).toString(36)}`, { _id: { $gt: idOf(10) } }],
      ['SHOP-13.', { $or: [{ _id: { $lt: idOf(3_000) } }, { _id: idOf(5_113) }] }],
    ] satisfies [string, Document][]) {
      const filter: Document = { owner: 'ours', url: containing(part), ...more };
      const isMatch = ({ owner, url }: Page) =>
        owner === 'ours' && String(url).toLowerCase().includes(part.toLowerCase());
      const isWanted = ({ _id }: Page) =>
        !('$or' in more || '_id' in more) ||
        ('_id' in more ? _id > idOf(10) : _id < idOf(3_000) || _id === idOf(5_113));
      const expected = pages(0, PAGES).filter((page) => isMatch(page) && isWanted(page));
      assert.deepEqual(await idsOf(things, filter), expected.map(({ _id }) => _id).reverse(), part);
      assert.equal(await things.countDocuments(filter), expected.length, part);
      const examined = await examinedBy(things, filter);
      assert.ok(examined < 250, `${part}: ${examined} documents`);
    }
  });

  it('leaves parts that many texts have, and those of fewer than three characters of ASCII, to the entries of the index', async () => {
    for (const [part, matches] of [
      ['.example', PAGES * 0.75],
      ['77', pages(0, PAGES).filter(({ owner, url }) => owner === 'ours' && String(url).includes('77')).length],
      ['é', 0],
    ] as const) {
      const filter = { owner: 'ours', url: containing(part) };
      assert.equal(await things.countDocuments(filter), matches, part);
      assert.ok((await examinedBy(things, filter)) <= 50);
    }
  });

  it('finds the same as reading every document, through random changes of texts of all kinds', async () => {
    const [bare, indexed] = [store.collection<Page>('bare'), store.collection<Page>('indexed')];
    await indexed.createIndex(KEYS, OPTIONS);
    for (const all of [bare, indexed]) await all.insertMany(pages(0, 3_000));
    const kinds: ((n: number) => Page['url'])[] = [
      urlOf,
      (n) => [urlOf(n), urlOf(n + 1)],
      () => null,
      (n) => `${'x'.repeat(5_000)}?deep=${n}`,
      (n) => `${'€'.repeat(1_012 + (n % 12))}?deep=${n}`,
      (n) => `http://Bücher-${n}.example/İ\u212Aelvin/\0${n}`,
      () => '',
    ];
    for (let n = 0; n < 400; n++) {
      const _id = idOf(mixed(n) % 3_300);
      const url = kinds[n % kinds.length]!(n);
      const owner = n % 3 === 0 ? 'theirs' : 'ours';
      for (const all of [bare, indexed]) {
        if (n % 5 === 0) await all.deleteOne({ _id });
        else if (n % 5 === 1) await all.updateOne({ _id }, { $set: { state: 'changed' } });
        else await all.replaceOne({ _id }, { owner, url }, { upsert: true });
      }
    }
    for (const part of [
      'shop-77.',
      'deep=57',
      'cher-1',
      'İ\u212Aelvin',
      'kelvin',
      'xxx',
      'n=299',
      '\0',
      'ü',
      'example/',
    ])
      for (const owner of ['ours', 'theirs']) {
        const filter = { owner, url: containing(part) };
        const expected = await idsOf(bare, filter);
        assert.deepEqual(await idsOf(indexed, filter), expected, part);
        assert.equal(await indexed.countDocuments(filter), expected.length, part);
      }
  });

  it('serves a store of an earlier version, after its next writes, and is there when the store is opened again', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'adsweep-parts-'));
    const path = join(folder, 'store.db');
    const filter = { owner: 'ours', url: containing('shop-77.') };
    const expected = pages(0, PAGES).filter(({ owner, url }) => owner === 'ours' && /Shop-77\./.test(String(url)));
    const check = async (all: Collection<Page>, isIndexed: boolean) => {
      assert.equal(await all.countDocuments({ owner: 'ours' }), PAGES * 0.75);
      assert.equal((await idsOf(all, filter)).length, expected.length);
      assert.equal(await all.countDocuments(filter), expected.length);
      const { queryPlanner } = await all.find(filter).sort({ _id: -1 }).explain();
      assert.equal(queryPlanner.winningPlan.inputStage.stage, isIndexed ? 'PARTS' : 'IXSCAN');
    };
    for (const options of [{ countedPrefix: 1 }, OPTIONS, OPTIONS]) {
      const opened = await openEmbedded(path);
      const all = opened.collection<Page>('pages');
      if (options === OPTIONS) await all.createIndex(KEYS, OPTIONS);
      else {
        await all.createIndex(KEYS, options);
        await all.insertMany(pages(0, PAGES));
      }
      await check(all, false);
      await opened.close();
    }
    const opened = await openEmbedded(path);
    const all = opened.collection<Page>('pages');
    // Each of them is of another owner, and leads to some more of the old ones.
    for (let n = PAGES; n < PAGES + 200; n++) await all.insertOne({ ...pageOf(n), owner: 'new' });
    await assert.rejects(all.insertMany([{ ...pageOf(PAGES + 200), owner: 'new' }, pageOf(1)]));
    await all.deleteMany({ owner: 'new' });
    await check(all, true);
    await opened.close();
    const again = await openEmbedded(path);
    await check(again.collection<Page>('pages'), true);
    await again.close();
    await rm(folder, { recursive: true });
  });

  it('is refused for a field that the index counts by, or that it does not have', async () => {
    for (const options of [
      { partsOf: 'url' },
      { countedPrefix: 1, partsOf: 'owner' },
      { countedPrefix: 1, partsOf: 'state' },
    ])
      await assert.rejects(store.collection('others').createIndex(KEYS, options), /finds parts of a field after/);
  });
});
