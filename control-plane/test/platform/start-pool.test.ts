import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLogger } from '@adsweep/shared/service/logger.ts';
import { until } from '../../../shared/test/support/until.ts';
import { startPool, withinLimits } from '../../src/platform/start-pool.ts';

type Due = { _id: string; organization_id: string };
const dueOf = (organization_id: string, count: number): Due[] =>
  Array.from({ length: count }, (_, index) => ({ _id: `${organization_id}-${index}`, organization_id }));

test('what is served knows whether others would have to wait for its place', async () => {
  const due = dueOf('one', 2);
  const ends: PromiseWithResolvers<void>[] = [];
  let isPoolFull = () => false;
  const pool = startPool<Due>(createLogger('test', 'silent'), {
    name: 'test',
    everyMs: 60_000,
    concurrency: 2,
    claimedAtOnce: 2,
    claim: async () => ({ claimed: due.splice(0), hasMore: false }),
    serve: async (_one, _signal, isFull) => {
      isPoolFull = isFull;
      const end = Promise.withResolvers<void>();
      ends.push(end);
      await end.promise;
    },
  });
  await until('both to be served', () => ends.length === 2);
  assert.equal(isPoolFull(), true);
  ends[0]!.resolve();
  await until('a place to be free', () => !isPoolFull());
  ends[1]!.resolve();
  await pool.stop();
});

test('a further record is served as soon as one has ended, and of one organization no more than its limit', async () => {
  const due = [...dueOf('slow', 5), ...dueOf('quick', 20)];
  const slow: PromiseWithResolvers<void>[] = [];
  const served: string[] = [];
  const pool = startPool<Due>(createLogger('test', 'silent'), {
    name: 'test',
    everyMs: 60_000,
    concurrency: 4,
    concurrencyEach: 2,
    claimedAtOnce: 3,
    claim: async (limit, serving) => {
      const claimed = withinLimits(due, serving).slice(0, limit);
      for (const one of claimed) due.splice(due.indexOf(one), 1);
      return { claimed, hasMore: claimed.length > 0 && due.length > 0 };
    },
    serve: async ({ _id, organization_id }) => {
      served.push(_id);
      if (_id === 'quick-7') throw new Error('it cannot be served');
      if (organization_id === 'quick') return;
      const gate = Promise.withResolvers<void>();
      slow.push(gate);
      await gate.promise;
    },
  });
  await until('all quick ones, also those after one that fails', () => served.length === 22);
  assert.deepEqual(
    served.filter((id) => id.startsWith('slow')),
    ['slow-0', 'slow-1'],
  );
  slow[0]!.resolve();
  await until('one more of the slow ones', () => served.includes('slow-2'));
  const stopped = pool.stop();
  for (const gate of slow) gate.resolve();
  await stopped;
  assert.equal(served.length, 23, 'a pool that stops begins nothing');
});
