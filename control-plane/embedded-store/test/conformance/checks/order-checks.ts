import assert from 'node:assert/strict';
import { Binary, Decimal128, Long, MaxKey, MinKey, ObjectId, Timestamp } from 'mongodb';
import type { Collection } from '../../../src/store-shape.ts';
import type { Anything, Check } from '../check.ts';
import { idsOf } from '../expect.ts';

/** That values sort in the order given, up and down, without an index and with one each way. */
async function sortsAs(things: Collection<Anything>, values: readonly unknown[]): Promise<void> {
  const documents = values.map((v, position) => ({ _id: String(position).padStart(2, '0'), v }));
  const inOrder = documents.map(({ _id }) => _id);
  await things.insertMany(documents.toReversed());
  for (const index of [null, 1, -1] as const) {
    if (index) await things.createIndex({ v: index }, { name: `v${index}` });
    assert.deepEqual(await idsOf(things.find().sort({ v: 1 })), inOrder, `up, index ${index}`);
    assert.deepEqual(await idsOf(things.find().sort({ v: -1 })), inOrder.toReversed(), `down, index ${index}`);
    if (index) await things.dropIndex(`v${index}`);
  }
}

export const orderChecks: readonly Check[] = [
  [
    'values of different types sort by type, as BSON says',
    (things) =>
      sortsAs(things, [
        new MinKey(),
        null,
        -1,
        'text',
        { a: 1 },
        new Binary(Buffer.from('b')),
        new ObjectId('000000000000000000000001'),
        false,
        true,
        new Date(0),
        new Timestamp({ t: 1, i: 1 }),
        /regex/,
        new MaxKey(),
      ]),
  ],
  [
    'numbers sort by their value, whole or not',
    (things) =>
      sortsAs(things, [
        ...[Number.NEGATIVE_INFINITY, -1e300, -1e15, -1.5, -1, -Number.MIN_VALUE, 0, Number.MIN_VALUE, 0.5, 1, 1.5, 2],
        ...[2 ** 31, 9007199254740992, 1e300, Number.POSITIVE_INFINITY],
      ]),
  ],
  [
    '64-bit integers sort among the doubles, to their last digit',
    (things) =>
      sortsAs(things, [
        -1e300,
        Long.MIN_VALUE,
        -1e15,
        1,
        9007199254740992,
        Long.fromString('9007199254740993'),
        Long.fromString('9007199254740994'),
        Long.MAX_VALUE,
        2 ** 63,
        1e300,
      ]),
  ],
  [
    'decimals sort among the other numbers, to their last digit',
    (things) =>
      sortsAs(things, [
        Decimal128.fromString('-12345678901234567890.5'),
        -1,
        Decimal128.fromString('0.09999999999999999999999999999999999'),
        0.1, // a little more than a tenth
        Decimal128.fromString('0.1000000000000000055511151231257828'),
        Decimal128.fromString('9007199254740992.5'),
        Long.fromString('9007199254740993'),
        Decimal128.fromString('9007199254740993.000000001'),
        Decimal128.fromString('1E+30'),
      ]),
  ],
  [
    'minus zero and zero are one value',
    async (things) => {
      await things.insertMany([
        { _id: 'a', v: -0 },
        { _id: 'b', v: 0 },
        { _id: 'c', v: 1 },
      ]);
      for (const index of [false, true]) {
        if (index) await things.createIndex({ v: 1 });
        assert.deepEqual(await idsOf(things.find({ v: 0 }).sort({ _id: 1 })), ['a', 'b']);
        assert.deepEqual(await idsOf(things.find({ v: { $gte: -0 } }).sort({ _id: 1 })), ['a', 'b', 'c']);
      }
    },
  ],
  [
    'NaN equals NaN, is neither above nor below a number, and sorts before all of them',
    async (things) => {
      await things.insertMany([
        { _id: 'a', v: Number.NEGATIVE_INFINITY },
        { _id: 'b', v: Number.NaN },
        { _id: 'c', v: 1 },
      ]);
      for (const index of [false, true]) {
        if (index) await things.createIndex({ v: 1 });
        assert.deepEqual(await idsOf(things.find({ v: { $lt: 5 } }).sort({ _id: 1 })), ['a', 'c']);
        assert.deepEqual(await idsOf(things.find({ v: Number.NaN })), ['b']);
        assert.deepEqual(await idsOf(things.find({ v: { $gte: Number.NaN } })), ['b']);
        assert.deepEqual(await idsOf(things.find().sort({ v: 1 })), ['b', 'a', 'c']);
      }
    },
  ],
  [
    'text sorts letter by letter, capitals first, with NUL before all',
    (things) => sortsAs(things, ['', '\0', '\0a', 'A', 'a', 'a\0', 'a\0b', 'aa', 'b', '\u{e9}', '\u{ffee}']),
  ],
  [
    'text sorts by code point past the first 65,536 too',
    (things) => sortsAs(things, ['\u{ffee}', '\u{1f600}', '\u{1f601}']),
  ],
  [
    'dates sort before and after 1970',
    (things) => sortsAs(things, [new Date(-8.64e15), new Date(-1), new Date(0), new Date(1), new Date(8.64e15)]),
  ],
  [
    'binary sorts by length, then kind, then content',
    (things) =>
      sortsAs(
        things,
        ['', 'b', 'aa', 'ab'].map((text) => new Binary(Buffer.from(text))),
      ),
  ],
  [
    'an array sorts by its smallest element up, by its largest down',
    async (things) => {
      await things.insertMany([
        { _id: 'a', v: [5, 1] },
        { _id: 'b', v: [3] },
        { _id: 'c', v: [2, 4] },
      ]);
      for (const index of [false, true]) {
        if (index) await things.createIndex({ v: 1 });
        assert.deepEqual(await idsOf(things.find().sort({ v: 1 })), ['a', 'c', 'b']);
        assert.deepEqual(await idsOf(things.find().sort({ v: -1 })), ['a', 'c', 'b']);
      }
    },
  ],
  [
    'a missing field sorts as null, ties go by the next field',
    async (things) => {
      await things.insertMany([
        { _id: 'a', v: 1, w: 1 },
        { _id: 'b', w: 2 },
        { _id: 'c', v: 1, w: 0 },
        { _id: 'd', v: null, w: 3 },
      ]);
      for (const index of [false, true]) {
        if (index) await things.createIndex({ v: 1, w: -1 });
        assert.deepEqual(await idsOf(things.find().sort({ v: 1, w: -1 })), ['d', 'b', 'a', 'c']);
        assert.deepEqual(await idsOf(things.find().sort({ v: -1, w: 1 })), ['c', 'a', 'b', 'd']);
        assert.deepEqual(await idsOf(things.find({ v: 1 }).sort({ w: 1 })), ['c', 'a']);
      }
    },
  ],
];
