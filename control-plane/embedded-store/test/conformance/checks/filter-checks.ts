import assert from 'node:assert/strict';
import type { Filter } from 'mongodb';
import type { Collection } from '../../../src/store-shape.ts';
import type { Anything, Check } from '../check.ts';
import { refused, sortedIdsOf } from '../expect.ts';

type Expectation = readonly [Filter<Anything>, string];

/** That each filter finds the documents whose one-letter ids are written beside it, and the same by an index. */
async function finds(
  things: Collection<Anything>,
  expectations: readonly Expectation[],
  index?: string,
): Promise<void> {
  for (const round of index ? ['without an index', index] : ['without an index']) {
    if (round === index) await things.createIndex({ [index]: 1 });
    for (const [filter, ids] of expectations) {
      const found = await sortedIdsOf(things.find(filter));
      assert.equal(found.join(''), ids, `${JSON.stringify(filter)} ${round}`);
      assert.equal(await things.countDocuments(filter), ids.length, `count of ${JSON.stringify(filter)} ${round}`);
    }
  }
}

export const filterChecks: readonly Check[] = [
  [
    'equality, comparison and lists compare within one type',
    async (things) => {
      await things.insertMany([
        { _id: 'a', v: 1 },
        { _id: 'b', v: 5.5 },
        { _id: 'c', v: '5' },
        { _id: 'd', v: true },
        { _id: 'e', v: new Date(5) },
        { _id: 'f', v: null },
        { _id: 'g' },
      ]);
      const expectations: Expectation[] = [
        [{ v: 1 }, 'a'],
        [{ v: { $eq: '5' } }, 'c'],
        [{ v: { $gt: 1 } }, 'b'],
        [{ v: { $gte: 1, $lt: 5.5 } }, 'a'],
        [{ v: { $lte: '9' } }, 'c'],
        [{ v: { $lt: new Date(6) } }, 'e'],
        [{ v: { $gte: false } }, 'd'],
        [{ v: { $in: [1, '5', true] } }, 'acd'],
        [{ v: { $nin: [1, '5', null] } }, 'bde'],
        [{ v: { $ne: 1 } }, 'bcdefg'],
        [{ v: { $gt: 5, $lt: 3 } }, ''],
        [{ v: { $in: [] } }, ''],
      ];
      await finds(things, expectations, 'v');
    },
  ],
  [
    'null means missing as well, $exists tells the two apart',
    async (things) => {
      await things.insertMany([{ _id: 'a', v: null }, { _id: 'b' }, { _id: 'c', v: 0 }, { _id: 'd', v: { w: 1 } }]);
      const expectations: Expectation[] = [
        [{ v: null }, 'ab'],
        [{ v: { $in: [null, 0] } }, 'abc'],
        [{ v: { $ne: null } }, 'cd'],
        [{ v: { $exists: true } }, 'acd'],
        [{ v: { $exists: false } }, 'b'],
        [{ 'v.w': { $exists: false } }, 'abc'],
        [{ 'v.w': null }, 'abc'],
      ];
      await finds(things, expectations, 'v');
    },
  ],
  [
    'a condition on an array holds when it holds for an element, or for the array',
    async (things) => {
      await things.insertMany([
        { _id: 'a', v: [1, 9] },
        { _id: 'b', v: [4] },
        { _id: 'c', v: [] },
        { _id: 'd', v: 4 },
        { _id: 'e', v: [[4]] },
      ]);
      const expectations: Expectation[] = [
        [{ v: 4 }, 'bd'],
        [{ v: [] }, 'c'],
        [{ v: { $elemMatch: { $gt: 3, $lt: 5 } } }, 'b'],
        [{ v: { $ne: 4 } }, 'ace'],
        [{ v: { $size: 0 } }, 'c'],
        [{ v: { $size: 1 } }, 'be'],
        [{ v: { $all: [1, 9] } }, 'a'],
        [{ 'v.0': { $exists: true } }, 'abe'],
        [{ 'v.1': 9 }, 'a'],
      ];
      await finds(things, expectations, 'v');
    },
  ],
  [
    'two bounds on an array may hold for two elements, $elemMatch asks for one',
    async (things) => {
      await things.insertMany([
        { _id: 'a', v: [1, 9] },
        { _id: 'b', v: [4] },
        { _id: 'c', v: [1, 2] },
      ]);
      const expectations: Expectation[] = [
        [{ v: { $gt: 3, $lt: 5 } }, 'ab'],
        [{ v: { $elemMatch: { $gt: 3, $lt: 5 } } }, 'b'],
      ];
      await finds(things, expectations, 'v');
    },
  ],
  [
    'a path leads through the documents of an array',
    async (things) => {
      await things.insertMany([
        {
          _id: 'a',
          tags: [
            { slug: 'x', n: 1 },
            { slug: 'y', n: 2 },
          ],
        },
        { _id: 'b', tags: [{ slug: 'x', n: 2 }] },
        { _id: 'c', tags: [] },
        { _id: 'd', tags: { slug: 'x', n: 9 } },
      ]);
      const expectations: Expectation[] = [
        [{ 'tags.slug': 'x' }, 'abd'],
        [{ 'tags.slug': { $in: ['y', 'z'] } }, 'a'],
        [{ 'tags.slug': { $nin: ['x'] } }, 'c'],
        [{ 'tags.slug': 'x', 'tags.n': 2 }, 'ab'],
        [{ tags: { $elemMatch: { slug: 'x', n: 2 } } }, 'b'],
        [{ tags: { $elemMatch: { slug: { $in: ['y'] }, n: { $gte: 2 } } } }, 'a'],
        [{ 'tags.0.slug': 'x' }, 'ab'],
        [{ 'tags.1.slug': { $exists: true } }, 'a'],
      ];
      await finds(things, expectations, 'tags.slug');
    },
  ],
  [
    '$or and $and combine conditions',
    async (things) => {
      await things.insertMany([
        { _id: 'a', v: 1, w: 1 },
        { _id: 'b', v: 1, w: 2 },
        { _id: 'c', v: 2, w: 2 },
        { _id: 'd', w: 3 },
      ]);
      const expectations: Expectation[] = [
        [{ $or: [{ v: 2 }, { w: 1 }] }, 'ac'],
        [{ v: 1, $or: [{ w: 2 }, { w: 3 }] }, 'b'],
        [{ $and: [{ v: 1 }, { w: { $gt: 1 } }] }, 'b'],
        [{ $or: [{ $and: [{ v: 1 }, { w: 1 }] }, { v: { $exists: false } }] }, 'ad'],
      ];
      await finds(things, expectations, 'v');
    },
  ],
  [
    '$regex finds a part of a text, with and without letter case',
    async (things) => {
      await things.insertMany([
        { _id: 'a', v: 'https://Example.com/x?a=(1)' },
        { _id: 'b', v: 'example.org' },
        { _id: 'c', v: ['nothing', 'an EXAMPLE'] },
        { _id: 'd', v: 5 },
        { _id: 'e', v: 'two\nlines' },
        { _id: 'f', v: 'null\0' },
      ]);
      const expectations: Expectation[] = [
        [{ v: { $regex: 'example' } }, 'b'],
        [{ v: { $regex: 'example', $options: 'i' } }, 'abc'],
        [{ v: /example\.(com|org)/i }, 'ab'],
        [{ v: { $regex: 'a=\\(1\\)$' } }, 'a'],
        [{ v: { $regex: '^lines', $options: 'm' } }, 'e'],
        [{ v: { $regex: 'two.lines', $options: 's' } }, 'e'],
        [{ v: { $regex: 'L\\x00', $options: 'i' } }, 'f'],
        [{ v: { $in: [/^example/, 5] } }, 'bd'],
      ];
      await finds(things, expectations, 'v');
    },
  ],
  [
    '$regex with a null character is refused',
    async (things) => {
      await things.insertOne({ _id: 'a', v: 'null\0' });
      await refused(things.find({ v: { $regex: '\0' } }).toArray());
    },
  ],
  [
    'a pattern stands beside other conditions on the same field',
    async (things) => {
      await things.insertMany([
        { _id: 'a', v: 'example.com' },
        { _id: 'b', v: 'example.org' },
      ]);
      await finds(things, [[{ v: { $regex: 'EXAMPLE', $options: 'i', $ne: 'example.org' } }, 'a']], 'v');
    },
  ],
  [
    'a document or an array is equal to an element as a whole',
    async (things) => {
      await things.insertMany([
        { _id: 'a', v: [{ x: 1, y: 2 }, [4]] },
        { _id: 'b', v: [{ x: 1 }, { y: 2 }, 4] },
        { _id: 'c', v: { x: 1, y: 2 } },
        { _id: 'd', v: [4] },
      ]);
      const expectations: Expectation[] = [
        [{ v: { x: 1, y: 2 } }, 'ac'],
        [{ v: [4] }, 'ad'],
        [{ v: { $in: [[4], { x: 1 }] } }, 'abd'],
      ];
      await finds(things, expectations, 'v');
    },
  ],
  [
    'a filter on several fields by one index of several fields',
    async (things) => {
      await things.insertMany([
        { _id: 'a', org: 1, state: 'x', at: 1 },
        { _id: 'b', org: 1, state: 'y', at: 2 },
        { _id: 'c', org: 1, state: 'z', at: 3 },
        { _id: 'd', org: 2, state: 'x', at: 4 },
      ]);
      await things.createIndex({ org: 1, state: -1, at: 1 });
      await finds(things, [
        [{ org: 1 }, 'abc'],
        [{ org: 1, state: 'y' }, 'b'],
        [{ org: 1, state: { $in: ['x', 'z'] }, at: { $gte: 2 } }, 'c'],
        [{ org: { $in: [1, 2] }, state: 'x' }, 'ad'],
        [{ org: 1, state: { $gte: 'y' } }, 'bc'],
        [{ org: 1, state: { $gt: 'x', $lt: 'z' } }, 'b'],
        [{ org: 1, at: { $lt: 3 } }, 'ab'],
        [{ state: 'x' }, 'ad'],
      ]);
    },
  ],
  [
    'a malformed filter is refused',
    async (things) => {
      await things.insertOne({ _id: 'a' });
      await refused(things.find({ v: { $in: 'text' } } as never).toArray());
      await refused(things.find({ $and: [] }).toArray());
      await refused(things.find({ $or: {} } as never).toArray());
    },
  ],
];
