import assert from 'node:assert/strict';
import { it } from 'node:test';
import { gatherByKey } from '../../src/platform/gather-by-key.ts';

it('items that come together are run in batches of as many as they count for, at least one, and each gets its own result', async () => {
  const batches: number[][] = [];
  const run = async (_key: string, items: number[]) => {
    batches.push(items);
    return items.map((item) => item * 2);
  };
  const gather = gatherByKey(run, 5, (item) => item);
  const items = [1, 2, 2, 3, 9, 1, 1];
  assert.deepEqual(
    await Promise.all(items.map((item) => gather('key', item))),
    items.map((item) => item * 2),
  );
  assert.deepEqual(batches, [[1, 2, 2], [3], [9], [1, 1]]);
});
