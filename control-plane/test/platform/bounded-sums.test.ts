import assert from 'node:assert/strict';
import { test } from 'node:test';
import { boundedSums } from '../../src/platform/bounded-sums.ts';
import { openStore } from '../../src/platform/store.ts';

type Thing = { _id: string; owner: string; text: string };

/** Things of owners, at most ten of each and 100 bytes together, and how often they were summed up. */
async function things() {
  const store = await openStore({ path: ':memory:' });
  const stored = store.collection<Thing>('things');
  let readings = 0;
  async function* sizesOf(owner: string) {
    readings += 1;
    for await (const { text } of stored.find({ owner })) yield text.length;
  }
  const refuse = () => new Error('full');
  const ofProcess = () => {
    const writeWithin = boundedSums(store, 'things', { most: { records: 10, bytes: 100 }, sizesOf, refuse });
    const add = (_id: string, bytes: number, owner = 'us') =>
      writeWithin(owner, { before: null, after: bytes }, async () => {
        await stored.insertOne({ _id, owner, text: 'x'.repeat(bytes) });
        return true;
      });
    const remove = (_id: string, bytes: number) =>
      writeWithin('us', { before: bytes, after: null }, async () => (await stored.deleteOne({ _id })).deletedCount > 0);
    return { writeWithin, add, remove };
  };
  return { store, stored, ofProcess, readings: () => readings };
}

test('three processes that write 40 records at once keep each owner within its records and bytes', async () => {
  const { store, stored, ofProcess } = await things();
  const processes = [ofProcess(), ofProcess(), ofProcess()];
  const owners = { many: 1, large: 30 };
  const outcomes = await Promise.allSettled(
    Array.from({ length: 40 }, (_, at) =>
      Object.entries(owners).map(([owner, bytes]) => processes[at % 3]!.add(`${owner}${at}`, bytes, owner)),
    ).flat(),
  );
  assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 13);
  assert.equal(await stored.countDocuments({ owner: 'many' }), 10);
  assert.equal(await stored.countDocuments({ owner: 'large' }), 3);
  await store.close();
});

test('the sum is read from the records once, and what is removed, refused or not written is room again', async () => {
  const { store, stored, ofProcess, readings } = await things();
  await stored.insertOne({ _id: 'earlier', owner: 'us', text: 'x'.repeat(60) });
  const { add, remove, writeWithin } = ofProcess();
  await add('a', 40);
  await assert.rejects(add('b', 1), /full/);
  await assert.rejects(
    writeWithin('us', { before: null, after: 0 }, () => Promise.reject(new Error('the disk is full'))),
    /disk/,
  );
  await remove('earlier', 60);
  await remove('earlier', 60);
  await writeWithin('us', { before: null, after: 60 }, async () => false);
  await add('c', 60);
  await assert.rejects(add('d', 1), /full/);
  assert.equal(readings(), 1);
  await store.close();
});

test('who keeps more than the bound may make it less, and nothing more', async () => {
  const { store, stored, ofProcess } = await things();
  await stored.insertOne({ _id: 'earlier', owner: 'us', text: 'x'.repeat(200) });
  const { writeWithin, add } = ofProcess();
  await assert.rejects(add('a', 1), /full/);
  await writeWithin('us', { before: 50, after: 0 }, async () => true);
  await assert.rejects(
    writeWithin('us', { before: 0, after: 10 }, async () => true),
    /full/,
  );
  await writeWithin('us', { before: 60, after: 0 }, async () => true);
  await writeWithin('us', { before: 0, after: 10 }, async () => true);
  await store.close();
});

test('what a process wrote and did not count before it ended is counted after a minute', async (context) => {
  const { store, stored, ofProcess, readings } = await things();
  context.mock.timers.enable({ apis: ['Date'], now: Date.now() });
  const { add, writeWithin } = ofProcess();
  await add('a', 40);
  const ended = writeWithin('us', { before: null, after: 50 }, async () => {
    await stored.insertOne({ _id: 'b', owner: 'us', text: 'x'.repeat(40) });
    return new Promise<boolean>(() => undefined);
  });
  await assert.rejects(add('c', 20), /full/);
  context.mock.timers.tick(60_001);
  await add('c', 20);
  assert.equal(readings(), 2);
  await assert.rejects(add('d', 1), /full/);
  void ended;
  await store.close();
});
