import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLogger } from '@adsweep/shared/service/logger.ts';
import { until } from '../../../shared/test/support/until.ts';
import { startPool, withinRooms } from '../../src/platform/start-pool.ts';

type Due = { _id: string; organization_id: string };
const dueOf = (organization_id: string, count: number): Due[] =>
  Array.from({ length: count }, (_, index) => ({ _id: `${organization_id}-${index}`, organization_id }));

test('each place is taken again as soon as it is free, and an organization has its share of them', async () => {
  const due = [...dueOf('slow', 5), ...dueOf('quick', 20)];
  const slow: PromiseWithResolvers<void>[] = [];
  const served: string[] = [];
  const pool = startPool<Due>(createLogger('test', 'silent'), {
    ...{ name: 'test', everyMs: 60_000, places: 4, atOnce: 3, placesEach: 2 },
    claim: async (limit, rooms) => {
      const claimed = withinRooms(due, rooms).slice(0, limit);
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
  await until('the place that is free', () => served.includes('slow-2'));
  const stopped = pool.stop();
  for (const gate of slow) gate.resolve();
  await stopped;
  assert.equal(served.length, 23, 'a pool that stops begins nothing');
});
