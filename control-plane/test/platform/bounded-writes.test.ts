import assert from 'node:assert/strict';
import { test } from 'node:test';
import { boundedWrites } from '../../src/platform/bounded-writes.ts';
import { openStore } from '../../src/platform/store.ts';

type Thing = { _id: string; owner: string };

/** Things of owners, at most five of each, and what one process of several calls to add one. */
async function things() {
  const store = await openStore({ path: ':memory:' });
  const stored = store.collection<Thing>('things');
  const ofProcess = () => {
    const writeWithin = boundedWrites<{ id: string }>(store, 'things');
    return (id: string, owner = 'us', write = async () => void (await stored.insertOne({ _id: id, owner }))) => {
      const kept = async () => (await stored.find({ owner }).toArray()).map(({ _id }) => ({ id: _id }));
      const take = (others: { id: string }[]) => {
        if (others.length >= 5) throw new Error('full');
        return { id };
      };
      return writeWithin(owner, { id, kept, take }, write);
    };
  };
  return { store, stored, ofProcess };
}

test('several processes that write at once store no more than the bound, for each owner', async () => {
  const { store, stored, ofProcess } = await things();
  const processes = [ofProcess(), ofProcess(), ofProcess()];
  const ids = Array.from({ length: 24 }, (_, at) => at);
  const outcomes = await Promise.allSettled(ids.map((at) => processes[at % 3]!(`${at}`, at % 2 === 0 ? 'us' : 'them')));
  assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 10);
  assert.deepEqual(
    [await stored.countDocuments({ owner: 'us' }), await stored.countDocuments({ owner: 'them' })],
    [5, 5],
  );
  await store.close();
});

test('a write that fails gives its room back, and storing a record again needs no further room', async () => {
  const { store, stored, ofProcess } = await things();
  const add = ofProcess();
  for (const id of ['a', 'b', 'c', 'd']) await add(id);
  await assert.rejects(
    add('e', 'us', async () => {
      throw new Error('the disk is full');
    }),
    /disk/,
  );
  await add('f');
  await assert.rejects(add('g'), /full/);
  await add('f', 'us', async () => undefined);
  assert.equal(await stored.countDocuments({}), 5);
  await store.close();
});

test('the claim of a process that ended counts for a minute', async (context) => {
  const { store, ofProcess } = await things();
  context.mock.timers.enable({ apis: ['Date'], now: Date.now() });
  const add = ofProcess();
  for (const id of ['a', 'b', 'c', 'd']) await add(id);
  const never = () => new Promise<never>(() => undefined);
  void add('e', 'us', never);
  while (
    !(await store
      .collection<{ _id: string; claims: object[] }>('write_claims')
      .findOne({ 'claims.0': { $exists: true } }))
  );
  await assert.rejects(add('f'), /full/);
  context.mock.timers.tick(60_001);
  await add('f');
  await store.close();
});
