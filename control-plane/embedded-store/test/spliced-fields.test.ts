import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { describe, it } from 'node:test';
import { Binary, BSON, Decimal128, Long, ObjectId, Timestamp } from 'mongodb';
import { openEmbedded } from '../src/open-embedded.ts';
import { spliceFields } from '../src/values/picked-fields.ts';
import { dice } from './support/dice.ts';

/** Values of every BSON type that the driver writes. */
const VALUES = [
  ...[1, 1.5, -0, 2 ** 40, Number.NaN, 'text', '', 'ü\u0000ü', true, null, new Date(0), /a\/b/i],
  ...[new ObjectId(), Long.fromString('9007199254740993'), Decimal128.fromString('1.10'), new Binary(Buffer.from('a'))],
  ...[new Timestamp({ t: 1, i: 2 }), [], {}, [1, { a: [{}] }], { a: { b: 'c' }, d: [] }],
];
const NAMES = ['a', 'b', 'ä', 'a long name', '0', '10', 'constructor'];

type Thing = {
  _id: number;
  kind: string;
  at?: number;
  n?: number;
  list: { deep: string }[];
  whole: unknown;
  large: Long;
};

describe('fields of a stored document', () => {
  const seed = Number(process.env.ADSWEEP_TEST_SEED ?? randomInt(2 ** 31));
  it(`are exchanged as if the whole document were written again (seed ${seed})`, () => {
    const roll = dice(seed);
    const some = () => NAMES.filter(() => roll(2) === 0);
    const values = (names: string[]) => new Map(names.map((name) => [name, VALUES[roll(VALUES.length)]]));
    const bytesOf = (fields: Map<string, unknown>) => BSON.serialize(fields);
    for (let round = 0; round < 2_000; round++) {
      const before = values(some());
      const names = new Set(some());
      const changed = values([...names].filter(() => roll(3) > 0));
      const after = new Map(before);
      for (const name of names) if (!changed.has(name)) after.delete(name);
      for (const [name, value] of changed) after.set(name, value);
      assert.deepEqual(spliceFields(bytesOf(before), names, bytesOf(changed)), Buffer.from(bytesOf(after)));
    }
  });

  it('that an update does not name keep their types, and indexes follow those that it changes', async () => {
    const store = await openEmbedded(':memory:');
    const things = store.collection<Thing>('things');
    await things.createIndex({ kind: 1, at: -1 });
    const kept = { whole: new BSON.Double(1), large: Long.fromString('9007199254740993'), list: [{ deep: 'x' }] };
    await things.insertOne({ _id: 1, kind: 'a', at: 1, ...kept });
    assert.equal(
      (await things.updateOne({ kind: 'a' }, { $set: { kind: 'b', 'list.0.deep': 'y' }, $unset: { at: 1 } }))
        .modifiedCount,
      1,
    );
    assert.equal(await things.countDocuments({ kind: 'a' }), 0);
    assert.equal(await things.countDocuments({ kind: 'b', at: { $exists: false } }), 1);
    const shown = await things.findOneAndUpdate(
      { kind: 'b' },
      { $inc: { n: 2 } },
      { returnDocument: 'after', projection: { n: 1, 'list.deep': 1 } },
    );
    assert.deepEqual(shown, { _id: 1, n: 2, list: [{ deep: 'y' }] });
    const whole = await things.findOneAndUpdate({ kind: 'b' }, { $set: { n: 3 } }, { returnDocument: 'before' });
    assert.deepEqual(Object.keys(whole ?? {}), ['_id', 'kind', 'whole', 'large', 'list', 'n']);
    assert.equal(String((await things.findOne({ kind: 'b' }))?.large), '9007199254740993');
    await store.close();
  });

  it('that an update sets are stored as they are, also where others are computed and some are not read', async () => {
    const store = await openEmbedded(':memory:');
    const things = store.collection<Thing & { queue?: object[] }>('things');
    await things.createIndex({ n: 1 });
    await things.insertOne({ _id: 1, kind: 'a', n: 1, list: [], whole: 1, large: Long.fromNumber(1) });
    const large = Long.fromString('9007199254740993');
    const update = {
      $set: { whole: new BSON.Double(2), large, kind: 'a', 'list.0': { deep: 'x' } },
      $push: { queue: { $each: [{ at: new Date(0), what: undefined }] } },
      $inc: { n: 1 },
    };
    const after = await things.findOneAndUpdate({ _id: 1 }, update, {
      returnDocument: 'after',
      projection: { queue: 0 },
    });
    assert.deepEqual(after, { _id: 1, kind: 'a', n: 2, list: [{ deep: 'x' }], whole: 2, large });
    assert.deepEqual(await things.findOne({ n: 2 }), { ...after, queue: [{ at: new Date(0) }] });
    await store.close();
  });

  it('may be shown without some, which are not read', async () => {
    const store = await openEmbedded(':memory:');
    const things = store.collection('things');
    await things.insertOne({ kind: 'a', inner: { a: 1, b: 2 }, list: [{ a: 1, b: 2 }], large: { text: 'x' } });
    const projection = { _id: 0, large: 0, 'inner.a': 0, 'list.b': 0 };
    const [shown] = await things.find({ 'large.text': 'x' }, { projection }).sort({ 'large.text': 1 }).toArray();
    assert.deepEqual(shown, { kind: 'a', inner: { b: 2 }, list: [{ a: 1 }] });
    await store.close();
  });
});
