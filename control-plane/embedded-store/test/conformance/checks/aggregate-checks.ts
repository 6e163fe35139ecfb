import assert from 'node:assert/strict';
import type { Collection } from '../../../src/store-shape.ts';
import type { Anything, Check } from '../check.ts';

async function fill(things: Collection<Anything>): Promise<void> {
  await things.insertMany([
    {
      _id: 'a',
      org: 1,
      status: 'done',
      ms: 10,
      at: new Date('2026-01-01T10:00:00Z'),
      tags: [{ slug: 'x' }, { slug: 'y' }],
    },
    { _id: 'b', org: 1, status: 'failed', ms: 30, at: new Date('2026-01-01T23:00:00Z'), tags: [{ slug: 'x' }] },
    { _id: 'c', org: 1, status: 'done', ms: 20, at: new Date('2026-01-02T01:00:00Z'), tags: [] },
    { _id: 'd', org: 2, status: 'done', ms: 99, at: new Date('2026-01-02T01:00:00Z') },
  ]);
}

export const aggregateChecks: readonly Check[] = [
  [
    '$group counts, sums and averages by a field',
    async (things) => {
      await fill(things);
      const pipeline = [
        { $match: { org: 1 } },
        {
          $group: {
            _id: '$status',
            n: { $sum: 1 },
            total: { $sum: '$ms' },
            mean: { $avg: '$ms' },
            most: { $max: '$ms' },
          },
        },
        { $sort: { _id: 1 } },
      ];
      assert.deepEqual(await things.aggregate(pipeline).toArray(), [
        { _id: 'done', n: 2, total: 30, mean: 15, most: 20 },
        { _id: 'failed', n: 1, total: 30, mean: 30, most: 30 },
      ]);
    },
  ],
  [
    '$unwind and $group count what is inside arrays',
    async (things) => {
      await fill(things);
      const pipeline = [
        { $unwind: '$tags' },
        { $group: { _id: '$tags.slug', n: { $sum: 1 } } },
        { $sort: { n: -1 } },
        { $limit: 5 },
      ];
      assert.deepEqual(await things.aggregate(pipeline).toArray(), [
        { _id: 'x', n: 2 },
        { _id: 'y', n: 1 },
      ]);
    },
  ],
  [
    '$dateToString groups by day in a time zone',
    async (things) => {
      await fill(things);
      const day = { $dateToString: { format: '%Y-%m-%d', date: '$at', timezone: 'UTC' } };
      const pipeline = [{ $group: { _id: day, n: { $sum: 1 } } }, { $sort: { _id: 1 } }];
      assert.deepEqual(await things.aggregate(pipeline).toArray(), [
        { _id: '2026-01-01', n: 2 },
        { _id: '2026-01-02', n: 2 },
      ]);
    },
  ],
  [
    '$cond counts what a condition holds for, $project computes',
    async (things) => {
      await fill(things);
      const pipeline = [
        { $group: { _id: null, failed: { $sum: { $cond: [{ $eq: ['$status', 'failed'] }, 1, 0] } }, n: { $sum: 1 } } },
        { $project: { _id: 0, share: { $divide: ['$failed', '$n'] } } },
      ];
      assert.deepEqual(await things.aggregate(pipeline).toArray(), [{ share: 0.25 }]);
    },
  ],
  [
    '$facet answers a page and its total at once, and $count counts',
    async (things) => {
      await fill(things);
      const facet = { page: [{ $sort: { ms: -1 } }, { $limit: 1 }, { $project: { ms: 1 } }], total: [{ $count: 'n' }] };
      assert.deepEqual(await things.aggregate([{ $match: { org: 1 } }, { $facet: facet }]).toArray(), [
        { page: [{ _id: 'b', ms: 30 }], total: [{ n: 3 }] },
      ]);
    },
  ],
  [
    '$lookup joins another collection',
    async (things, store) => {
      await things.insertOne({ _id: 'a', other: 'x' });
      const others = store.collection<Anything>(`${things.collectionName}_others`);
      await others.insertMany([
        { _id: 'x', n: 1 },
        { _id: 'y', n: 2 },
      ]);
      const lookup = { from: others.collectionName, localField: 'other', foreignField: '_id', as: 'found' };
      assert.deepEqual(await things.aggregate([{ $lookup: lookup }]).toArray(), [
        { _id: 'a', other: 'x', found: [{ _id: 'x', n: 1 }] },
      ]);
    },
  ],
  [
    'stages are run in the order written',
    async (things) => {
      await fill(things);
      const ids = async (pipeline: object[]): Promise<unknown[]> =>
        (await things.aggregate([...pipeline, { $project: { ms: 1 } }]).toArray()).map(({ _id }) => _id);
      assert.deepEqual(await ids([{ $sort: { ms: -1 } }, { $limit: 2 }, { $match: { org: 1 } }]), ['b']);
      assert.deepEqual(await ids([{ $limit: 10 }, { $sort: { ms: 1 } }, { $skip: 1 }, { $limit: 2 }]), ['c', 'b']);
      assert.deepEqual(await ids([{ $match: { org: 1 } }, { $match: { status: 'done' } }, { $sort: { _id: 1 } }]), [
        'a',
        'c',
      ]);
    },
  ],
];
