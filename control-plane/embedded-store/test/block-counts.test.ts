import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, it } from 'node:test';
import { slow } from '../../../shared/test/support/slow.ts';
import { BlockCounts } from '../src/indexes/block-counts.ts';
import { PrefixCounts } from '../src/indexes/prefix-counts.ts';
import { openEmbedded } from '../src/open-embedded.ts';
import { dice } from './support/dice.ts';

type Entry = { key: Buffer; row: number };

/** An index of entries under two prefixes with small blocks, beside a list of its entries. */
function indexOf(blockMax: number, blocksMax: number, walkedMax = blockMax) {
  const db = new DatabaseSync(':memory:');
  db.exec('CREATE TABLE entries (k BLOB NOT NULL, r INTEGER NOT NULL, PRIMARY KEY (k, r)) WITHOUT ROWID');
  const counts = new PrefixCounts(db, 1);
  const open = (most: number) =>
    new BlockCounts(db, 1, { entries: 'entries', counts: counts.table }, { blockMax, blocksMax, walkedMax: most });
  let blocks = open(walkedMax);
  const [insert, remove] = [
    db.prepare('INSERT INTO entries (k, r) VALUES (?, ?)'),
    db.prepare('DELETE FROM entries WHERE k = ? AND r = ?'),
  ];
  const all: Entry[] = [];
  const changed = (key: Buffer, by: 1 | -1) => {
    const prefix = key.subarray(0, 1);
    blocks.changed(key, prefix, by, counts.add(prefix, by));
  };
  const write = () => {
    counts.write();
    blocks.write();
  };
  return {
    all,
    /** The number of blocks of a prefix. */
    blocks(prefix: number) {
      write();
      const ofPrefix = db.prepare('SELECT count(*) AS n FROM blocks_1 WHERE k >= ? AND k < ?');
      return Number(ofPrefix.get(Buffer.of(prefix), Buffer.of(prefix + 1))?.n);
    },
    /** Opens it again with another bound of the entries that are walked. */
    reopen(most: number) {
      write();
      db.exec('DROP TRIGGER blocks_1_unfit');
      blocks = open(most);
    },
    add(entry: Entry) {
      insert.run(entry.key, entry.row);
      all.push(entry);
      changed(entry.key, 1);
    },
    remove(at: number) {
      const [{ key, row }] = all.splice(at, 1) as [Entry];
      remove.run(key, row);
      changed(key, -1);
    },
    /** The number of entries in a range, how many of them were walked, and the number as the list has it. */
    count(from: Buffer, to: Buffer) {
      const isIn = ({ key }: Entry, start: Uint8Array, end: Uint8Array) =>
        Buffer.compare(key, start) >= 0 && Buffer.compare(key, end) < 0;
      const expected = all.filter((one) => isIn(one, from, to)).length;
      const { count: total, walked } = blocks.countIn({ from, to }) ?? { count: expected, walked: expected };
      return { total, walked, expected };
    },
  };
}

describe('counts of blocks', slow, () => {
  // With 217, blocks of the second level come to begin inside one of the first.
  for (const seed of [3, 217, Number(process.env.ADSWEEP_TEST_SEED ?? randomInt(2 ** 31))])
    it(`are those of any range after any inserts and removals (seed ${seed})`, () => {
      const roll = dice(seed);
      const blockMax = 2 + roll(9);
      const index = indexOf(blockMax, 2 + roll(5), blockMax * (1 + roll(4)));
      let row = 0;
      const keyOf = (prefix: number, value: number) => Buffer.of(prefix, value >> 8, value & 0xff);
      for (let step = 0; step < 6_000; step++) {
        // First it grows, then it shrinks to nothing, then it grows again.
        const grows = step < 2_500 || step > 5_200 ? roll(10) < 8 : roll(10) < 1;
        // Some values are frequent: many entries with the same key.
        if (grows || index.all.length === 0)
          index.add({ key: keyOf(1 + roll(2), roll(3) ? roll(60_000) : 7), row: row++ });
        else index.remove(roll(index.all.length));
        // Each count writes what has changed since the last one: one entry, or many.
        if (roll(9) > 0) continue;
        const prefix = 1 + roll(2);
        const ends = [roll(60_000), roll(60_000)].sort((one, other) => one - other) as [number, number];
        const isWhole = roll(5) === 0;
        const [from, to] = isWhole ? [Buffer.of(prefix), Buffer.of(prefix + 1)] : ends.map((end) => keyOf(prefix, end));
        const { total, expected } = index.count(from!, to!);
        assert.equal(total, expected, `step ${step}`);
      }
      while (index.all.length > 0) index.remove(0);
      assert.equal(index.blocks(1) + index.blocks(2), 0);
    });

  it('of prefixes with few entries are removed where an earlier version made them, and the others are kept', () => {
    const index = indexOf(8, 4);
    const add = (prefix: number, from: number, to: number) => {
      for (let n = from; n < to; n++) index.add({ key: Buffer.of(prefix, n), row: n });
    };
    add(1, 0, 40);
    add(2, 0, 240);
    assert.ok(index.blocks(1) > 0);
    const large = index.blocks(2);
    index.reopen(64);
    assert.deepEqual([index.blocks(1), index.blocks(2)], [0, large]);
    // As many as were in their blocks, and another one in between.
    add(1, 40, 120);
    for (let n = 0; n < 20; n++) index.remove(0);
    for (const prefix of [1, 2]) {
      const { total, expected } = index.count(Buffer.of(prefix, 10), Buffer.of(prefix, 70));
      assert.equal(total, expected);
    }
    assert.ok(index.blocks(1) > 0);
  });

  it('leave few entries at each end to be walked, however many there are', () => {
    const index = indexOf(8, 4);
    for (let n = 0; n < 2_000; n++)
      index.add({ key: Buffer.of(1, (n * 7_919) >> 8, (n * 7_919) & 0xff, n & 3), row: n });
    const { total, walked, expected } = index.count(Buffer.of(1, 20), Buffer.of(1, 230));
    assert.equal(total, expected);
    assert.ok(walked <= 2 * 2 * 8, `${walked} of ${expected} were walked`);
    // All that is under the prefix, from below the first entry or from just below the first key to above the last.
    for (const from of [Buffer.of(1), Buffer.of(1, 0, 0)])
      assert.deepEqual(index.count(from, Buffer.of(2)), { total: 2_000, walked: 0, expected: 2_000 });
  });

  it('answer a count of a range in a collection, also of an index whose blocks were not yet made', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'adsweep-blocks-'));
    const path = join(folder, 'store.db');
    const at = (n: number) => new Date(1.7e12 + n * 1_000);
    const open = async () => {
      const store = await openEmbedded(path);
      const collection = store.collection<{ _id: number; keys: string[]; kind: string; at: Date }>('things');
      await collection.createIndex({ keys: 1, kind: 1, at: -1, _id: -1 }, { countedPrefix: 2 });
      return { store, collection };
    };
    const documents = (from: number, to: number) =>
      Array.from({ length: to - from }, (_, n) => ({
        ...{ _id: from + n, keys: ['all', `half-${n % 2}`], kind: n % 3 ? 'a' : 'b', at: at(from + n) },
      }));
    try {
      const first = await open();
      await first.collection.insertMany(documents(0, 6_000));
      await first.store.close();
      // As an earlier version left it.
      const db = new DatabaseSync(path);
      for (const { name } of db.prepare("SELECT name FROM sqlite_master WHERE name LIKE 'blocks_%'").all())
        db.exec(`DROP TABLE ${name}`);
      db.close();
      const { store, collection } = await open();
      const check = async () => {
        const all = await collection.find({}).toArray();
        for (const [from, to] of [
          [100, 5_400],
          [0, 20_000],
          [1_000, 1_001],
        ] as const) {
          const inRange = { $gte: at(from), $lt: at(to) };
          const count = (more: object) => collection.countDocuments({ keys: 'half-1', at: inRange, ...more });
          const matches = all.filter((one) => one.keys.includes('half-1') && one.at >= at(from) && one.at < at(to));
          assert.equal(await count({ kind: 'a' }), matches.filter(({ kind }) => kind === 'a').length);
          assert.equal(await count({ kind: { $in: ['a', 'b'] } }), matches.length);
        }
      };
      await check();
      await collection.insertMany(documents(6_000, 7_000));
      await collection.deleteMany({ _id: { $gte: 300, $lt: 700 } });
      await collection.updateMany({ _id: { $gte: 900, $lt: 1_200 } }, { $set: { kind: 'a' } });
      await check();
      await store.close();
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});
