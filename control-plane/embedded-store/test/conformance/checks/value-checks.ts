import assert from 'node:assert/strict';
import { Binary, Decimal128, Long, ObjectId } from 'mongodb';
import type { Check } from '../check.ts';
import { idsOf, refused } from '../expect.ts';

export const valueChecks: readonly Check[] = [
  [
    'every type of value is returned as it was stored',
    async (things) => {
      const document = {
        _id: 'a',
        date: new Date('2026-02-03T04:05:06.789Z'),
        id: new ObjectId(),
        bytes: new Binary(Buffer.from([0, 255, 1])),
        big: Long.fromString('9223372036854775807'),
        money: Decimal128.fromString('0.10'),
        pattern: /a.b/i,
        float: 0.1 + 0.2,
        minusZero: -0,
        nan: Number.NaN,
        nested: { list: [[1, [2]], null, ''], empty: {} },
      };
      await things.insertOne(document);
      assert.deepEqual(await things.findOne({ _id: 'a' }), document);
    },
  ],
  [
    'values with $, dots and NUL in them are only values',
    async (things) => {
      const texts = ['$set', '$where', 'a.b', '\0', 'a\0b', '__proto__', '{"$gt":""}', "' OR 1=1 --", '\u{2028}'];
      await things.createIndex({ v: 1 });
      await things.insertMany(texts.map((v, position) => ({ _id: String(position), v })));
      for (const [position, v] of texts.entries()) {
        assert.deepEqual(await idsOf(things.find({ v })), [String(position)], JSON.stringify(v));
      }
    },
  ],
  [
    'ids with NUL, quotes and other scripts are distinct',
    async (things) => {
      const ids = ['a', 'a\0', 'a\0b', 'A', '"', "'", '\\', '%', 'é', 'e\u{301}', '\u{1f600}', ' '];
      await things.insertMany(ids.map((_id) => ({ _id })));
      for (const _id of ids) assert.equal((await things.findOne({ _id }))?._id, _id);
      assert.equal(await things.countDocuments(), ids.length);
    },
  ],
  [
    'a field called __proto__ or constructor is a field and changes no prototype',
    async (things) => {
      const hostile = JSON.parse(
        '{"_id":"a","meta":{"__proto__":{"polluted":true},"constructor":{"x":1},"toString":1}}',
      );
      await things.insertOne(hostile);
      await things.updateOne({ _id: 'a' }, { $set: { more: JSON.parse('{"__proto__":{"polluted":true}}'), n: 1 } });
      const read = await things.findOneAndUpdate({ _id: 'a' }, { $inc: { n: 1 } }, { returnDocument: 'after' });
      assert.equal(({} as Record<string, unknown>).polluted, undefined);
      assert.deepEqual(Object.keys(read?.meta ?? {}), ['__proto__', 'constructor', 'toString']);
      assert.equal(JSON.stringify(read?.more), '{"__proto__":{"polluted":true}}');
      assert.equal(read?.meta.polluted, undefined);
      assert.equal(await things.countDocuments({ 'meta.constructor.x': 1 }), 1);
      assert.equal(await things.countDocuments({ 'meta.valueOf': { $exists: true } }), 0);
    },
  ],
  [
    'a text of a million characters is stored, indexed and found',
    async (things) => {
      const long = 'äx'.repeat(500_000);
      await things.insertMany([
        { _id: 'a', v: long },
        { _id: 'b', v: `${long}!` },
      ]);
      assert.deepEqual(await idsOf(things.find({ v: long })), ['a']);
      assert.equal((await things.findOne({ _id: 'b' }))?.v.length, 1_000_001);
    },
  ],
  [
    'a document above 16 MiB is refused',
    async (things) => {
      await assert.rejects(things.insertOne({ _id: 'a', v: 'x'.repeat(17 * 1024 * 1024) }));
      assert.equal(await things.countDocuments(), 0);
    },
  ],
  [
    'half a surrogate pair is stored as the replacement character and found by either',
    async (things) => {
      await things.createIndex({ v: 1 });
      await things.insertOne({ _id: 'a', v: 'x\ud800' });
      assert.equal((await things.findOne({ v: 'x\ud800' }))?.v, 'x\ufffd');
      assert.deepEqual(await idsOf(things.find({ v: 'x\ufffd' })), ['a']);
    },
  ],
  [
    'documents compare field by field, in their order',
    async (things) => {
      await things.insertMany([
        { _id: 'a', v: { x: 1, y: 2 } },
        { _id: 'b', v: { y: 2, x: 1 } },
        { _id: 'c', v: { x: 1 } },
      ]);
      for (const index of [false, true]) {
        if (index) await things.createIndex({ v: 1 });
        assert.deepEqual(await idsOf(things.find({ v: { x: 1, y: 2 } })), ['a']);
        assert.deepEqual(await idsOf(things.find().sort({ v: 1 })), ['c', 'a', 'b']);
      }
    },
  ],
  [
    'an id cannot be an array',
    async (things) => {
      await refused(things.insertOne({ _id: ['a'] } as never));
      assert.equal(await things.countDocuments(), 0);
    },
  ],
];
