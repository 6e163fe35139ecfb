import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, describe, it } from 'node:test';
import { openEmbedded } from '../src/open-embedded.ts';
import type { Store } from '../src/store-shape.ts';

const WRITER = join(import.meta.dirname, 'support/store-writer.ts');
const KILLS = 5;

/** Starts a writer and kills it once it has acknowledged `count` writes; gives the last number it acknowledged. */
async function writeAndKill(path: string, first: number, count: number): Promise<number> {
  const child = startWriter(path, first);
  const exited = once(child, 'exit');
  let last = first - 1;
  for await (const line of createInterface({ input: child.stdout! })) {
    last = Number(line);
    // Goes on to read what was acknowledged while the signal was under way.
    if (last >= first + count) child.kill('SIGKILL');
  }
  await exited;
  assert.ok(last >= first + count, 'the writer ended by itself');
  return last;
}

function startWriter(path: string, first: number): ChildProcess {
  return spawn(process.execPath, [WRITER, path, String(first)], { stdio: ['ignore', 'pipe', 'inherit'] });
}

async function numbersIn(store: Store): Promise<number[]> {
  const found = await store.collection('written').find().sort({ n: 1 }).toArray();
  return found.map(({ n }) => n);
}

describe('the embedded store on a file', () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'adsweep-store-'));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  it(`loses no acknowledged write over ${KILLS} kills of its process, and opens at once after each`, async () => {
    const path = join(folder, 'killed', 'store.db');
    let next = 0;
    for (let kill = 0; kill < KILLS; kill++) {
      const last = await writeAndKill(path, next, 100 + 37 * kill);
      const store = await openEmbedded(path);
      const numbers = await numbersIn(store);
      // One more may have been written and not yet acknowledged.
      assert.ok(numbers.length === last + 1 || numbers.length === last + 2, `${numbers.length} after ${last}`);
      assert.deepEqual(numbers, [...numbers.keys()]);
      const count = (await store.collection('counter').findOne({}))?.n;
      assert.ok(count === last || count === last + 1);
      assert.equal((await store.collection('written').findOne({ n: last }))?._id, `w${last}`);
      await store.close();
      next = numbers.length;
    }
  });

  it('cannot be opened by a second process, which gets one clear message, until the first has exited', async () => {
    const path = join(folder, 'shared.db');
    const child = startWriter(path, 0);
    const exited = once(child, 'exit');
    await once(child.stdout!, 'data');
    await assert.rejects(openEmbedded(path), new RegExp(`the store ${path} is open in another process`));
    child.kill('SIGKILL');
    await exited;
    const store = await openEmbedded(path);
    assert.ok((await numbersIn(store)).length > 0);
    await store.close();
  });

  it('cannot be opened twice by the same process', async () => {
    const path = join(folder, 'twice.db');
    const store = await openEmbedded(path);
    await assert.rejects(openEmbedded(path), /is open in another process/);
    await store.close();
    await (await openEmbedded(path)).close();
  });

  it('keeps documents, indexes and uniqueness when it is closed and opened again', async () => {
    const path = join(folder, 'reopened.db');
    const first = await openEmbedded(path);
    const before = first.collection('things');
    await before.createIndex({ 'tags.slug': 1, n: -1 }, { name: 'by_tag' });
    await before.createIndex({ n: 1 }, { unique: true, sparse: true });
    await before.createIndex({ at: 1 }, { expireAfterSeconds: 5 });
    await before.insertMany([{ n: 1, tags: [{ slug: 'x' }, { slug: 'y' }] }, { n: 2 }]);
    const indexes = await before.indexes();
    await first.close();

    const second = await openEmbedded(path);
    const after = second.collection('things');
    assert.deepEqual(await after.indexes(), indexes);
    assert.equal(await after.countDocuments({ 'tags.slug': { $in: ['x', 'y'] } }), 1);
    await assert.rejects(after.insertOne({ n: 2 }), { code: 11000 });
    await second.close();
  });

  it('refuses a file that is no store, and leaves the file unchanged', async () => {
    const path = join(folder, 'letter.txt');
    await writeFile(path, 'Dear all, this is a letter and no store.'.repeat(100));
    await assert.rejects(openEmbedded(path), /not a database/);
  });

  it('rolls back all of an updateMany that is refused half-way', async () => {
    const store = await openEmbedded(':memory:');
    const things = store.collection<{ _id: string; v: unknown }>('things');
    await things.insertMany([
      { _id: 'a', v: 1 },
      { _id: 'b', v: [1] },
      { _id: 'c', v: 'text' },
    ]);
    await things.createIndex({ v: 1 });
    await assert.rejects(things.updateMany({ _id: { $ne: 'b' } }, { $inc: { v: 1 } } as never));
    assert.equal((await things.findOne({ _id: 'a' }))?.v, 1);
    assert.equal(await things.countDocuments({ v: 1 }), 2);
    await store.close();
  });
});
