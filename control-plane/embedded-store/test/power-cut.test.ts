import assert from 'node:assert/strict';
import fs from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it, mock } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { openEmbedded } from '../src/open-embedded.ts';
import type { Store } from '../src/store-shape.ts';

type Thing = { _id: string; n: number };
type Done = (error: Error | null) => void;

/** Holds every sync of a log back until it is let through, or fails it. */
function holdSyncs() {
  const real = fs.fdatasync;
  const held: { finish: (error?: Error) => void }[] = [];
  mock.method(fs, 'fdatasync', (file: number, done: Done) => {
    held.push({ finish: (error) => (error ? done(error) : real(file, done)) });
  });
  syncBuiltinESMExports();
  return held;
}

/** Ten turns of the event loop: whatever does not wait for the disk has happened by then. */
async function tenTurns(): Promise<void> {
  for (let count = 0; count < 10; count++) await turn();
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await turn();
}

describe('a power cut takes nothing that the embedded store acknowledged', () => {
  let folder: string;
  let store: Store;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'adsweep-power-'));
    store = await openEmbedded(join(folder, 'store.db'));
    await store.collection('things').createIndex({ n: 1 }, { unique: true });
  });
  afterEach(async () => {
    mock.restoreAll();
    syncBuiltinESMExports();
    await store.close();
    await rm(folder, { recursive: true, force: true });
  });

  const WRITES: Record<string, (store: Store) => Promise<unknown>> = {
    insertOne: (of) => of.collection<Thing>('things').insertOne({ _id: 'a', n: 1 }),
    insertMany: (of) => of.collection<Thing>('things').insertMany([{ _id: 'a', n: 1 }]),
    bulkWrite: (of) => of.collection<Thing>('things').bulkWrite([{ insertOne: { document: { _id: 'a', n: 1 } } }]),
    updateOne: (of) => of.collection<Thing>('things').updateOne({ _id: 'b' }, { $set: { n: 1 } }, { upsert: true }),
    updateMany: (of) => of.collection<Thing>('things').updateMany({ _id: 'old' }, { $inc: { n: 1 } }),
    replaceOne: (of) => of.collection<Thing>('things').replaceOne({ _id: 'old' }, { n: 8 }),
    findOneAndUpdate: (of) => of.collection<Thing>('things').findOneAndUpdate({ _id: 'old' }, { $inc: { n: 1 } }),
    findOneAndReplace: (of) => of.collection<Thing>('things').findOneAndReplace({ _id: 'old' }, { n: 8 }),
    findOneAndDelete: (of) => of.collection<Thing>('things').findOneAndDelete({ _id: 'old' }),
    deleteOne: (of) => of.collection<Thing>('things').deleteOne({ _id: 'old' }),
    deleteMany: (of) => of.collection<Thing>('things').deleteMany({}),
    createIndex: (of) => of.collection<Thing>('things').createIndex({ other: 1 }),
    dropIndex: (of) => of.collection<Thing>('things').dropIndex('n_1'),
    drop: (of) => of.collection<Thing>('things').drop(),
  };
  for (const [name, write] of Object.entries(WRITES)) {
    it(`${name} is acknowledged after a sync that began when it was committed`, async () => {
      await store.collection<Thing>('things').insertOne({ _id: 'old', n: 7 });
      const syncs = holdSyncs();
      let acknowledged = false;
      const writing = write(store).then(() => {
        acknowledged = true;
      });
      await until(() => syncs.length === 1);
      await tenTurns();
      assert.equal(acknowledged, false);
      syncs[0]?.finish();
      await writing;
      assert.equal(syncs.length, 1);
    });
  }

  it('a hundred writes that arrive during a sync share the next one', async () => {
    const syncs = holdSyncs();
    const things = store.collection<Thing>('things');
    const first = things.insertOne({ _id: 'first', n: -1 });
    await until(() => syncs.length === 1);
    const others = Array.from({ length: 100 }, (_, n) => things.insertOne({ _id: String(n), n }));
    syncs[0]?.finish();
    await first;
    await until(() => syncs.length === 2);
    syncs[1]?.finish();
    await Promise.all(others);
    assert.equal(syncs.length, 2);
    assert.equal(await things.countDocuments(), 101);
  });

  it('a refused write does not undo the writes that share its sync', async () => {
    const things = store.collection<Thing>('things');
    const results = await Promise.allSettled([1, 2, 2, 3].map((n, at) => things.insertOne({ _id: String(at), n })));
    assert.deepEqual(
      results.map(({ status }) => status),
      ['fulfilled', 'fulfilled', 'rejected', 'fulfilled'],
    );
    assert.equal(await things.countDocuments(), 3);
  });

  it('a write is refused only when the document that it conflicts with is on the disk', async () => {
    const syncs = holdSyncs();
    const things = store.collection<Thing>('things');
    const first = things.insertOne({ _id: 'a', n: 1 });
    let refused = false;
    const second = things.insertOne({ _id: 'a', n: 2 }).catch(() => {
      refused = true;
    });
    await until(() => syncs.length === 1);
    await tenTurns();
    assert.equal(refused, false);
    syncs[0]?.finish();
    await Promise.all([first, second]);
    assert.equal(refused, true);
  });

  it('a failed sync rejects its writes and every later one, and the store reports that it is not ready', async () => {
    const syncs = holdSyncs();
    const things = store.collection<Thing>('things');
    const writing = assert.rejects(things.insertOne({ _id: 'a', n: 1 }), /could not be written to the disk/);
    await until(() => syncs.length === 1);
    syncs[0]?.finish(new Error('EIO'));
    await writing;
    await assert.rejects(things.insertOne({ _id: 'b', n: 2 }), /could not be written to the disk/);
    await assert.rejects(store.ping(), /could not be written to the disk/);
    assert.equal(await things.findOne({ _id: 'b' }), null);
  });
});
