import assert from 'node:assert/strict';
import { it } from 'node:test';
import { openEmbedded } from '../src/open-embedded.ts';

type Thing = { _id: number; kind: string; name: number };

it('the counts of an index are those of its documents, whatever of a bulk write is refused, and if all of it fails', async () => {
  const store = await openEmbedded(':memory:');
  const things = store.collection<Thing>('things');
  await things.createIndex({ kind: 1, _id: 1 }, { countedPrefix: 1 });
  await things.createIndex({ name: 1 }, { unique: true });
  const kinds = async (counted: boolean) =>
    Promise.all(
      ['a', 'b', 'c'].map(async (kind) =>
        counted ? things.countDocuments({ kind }) : (await things.find({ kind }).toArray()).length,
      ),
    );
  await things.insertMany(Array.from({ length: 10 }, (_, n) => ({ _id: n, kind: n % 2 ? 'a' : 'b', name: n })));
  assert.deepEqual(await kinds(true), [5, 5, 0]);
  const refused = things.bulkWrite(
    [
      { updateOne: { filter: { _id: 0 }, update: { $set: { kind: 'c' } } } },
      { insertOne: { document: { _id: 20, kind: 'c', name: 3 } } },
      // The second document that it changes is refused.
      { updateMany: { filter: { kind: 'a' }, update: { $set: { kind: 'c', name: 50 } } } },
      { updateOne: { filter: { _id: 2 }, update: { $set: { kind: 'c', name: 3 } } } },
      { deleteOne: { filter: { _id: 4 } } },
      { insertOne: { document: { _id: 21, kind: 'a', name: 21 } } },
      { deleteMany: { filter: { kind: 'c', _id: { $gt: 20 } } } },
    ],
    { ordered: false },
  );
  await assert.rejects(refused, ({ writeErrors }: { writeErrors: { index: number }[] }) => {
    assert.deepEqual(
      writeErrors.map(({ index }) => index),
      [1, 2, 3],
    );
    return true;
  });
  assert.deepEqual(await kinds(true), [6, 3, 1]);
  assert.deepEqual(await kinds(false), [6, 3, 1]);
  const failed = things.bulkWrite([
    { updateOne: { filter: { _id: 2 }, update: { $set: { kind: 'c' } } } },
    { replaceOne: { filter: { _id: 6 }, replacement: { $set: { kind: 'c' } } as never } },
  ]);
  await assert.rejects(failed, /atomic operators/);
  assert.deepEqual(await kinds(true), [6, 3, 1]);
  assert.deepEqual(await kinds(false), [6, 3, 1]);
  await store.close();
});
