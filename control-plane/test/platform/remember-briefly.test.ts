import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rememberBriefly } from '../../src/platform/remember-briefly.ts';

test('a value is cached per key until it expires', async () => {
  const asked: string[] = [];
  let clock = 0;
  const read = rememberBriefly(
    async (key) => {
      asked.push(key);
      return `${key}${asked.length}`;
    },
    1_000,
    () => clock,
  );
  assert.deepEqual(await Promise.all([read('a'), read('a'), read('b')]), ['a1', 'a1', 'b2']);
  clock = 999;
  assert.equal(await read('a'), 'a1');
  clock = 1_000;
  assert.equal(await read('a'), 'a3');
  assert.deepEqual(asked, ['a', 'b', 'a']);
});

test('a failure is not cached', async () => {
  let fails = true;
  const read = rememberBriefly(async () => {
    if (fails) throw new Error('the store is away');
    return 'there';
  }, 1_000);
  await assert.rejects(read('a'), /away/);
  fails = false;
  assert.equal(await read('a'), 'there');
});

test('the number of cached values is limited', async () => {
  let asked = 0;
  const read = rememberBriefly(async () => ++asked, 1_000_000);
  for (let n = 0; n < 10_001; n++) await read(`key ${n}`);
  await read('key 0');
  assert.equal(asked, 10_002);
});

test('a forgotten value is loaded again, also while it is being loaded', async () => {
  const loads: PromiseWithResolvers<number>[] = [];
  const recall = rememberBriefly(
    () => loads[loads.push(Promise.withResolvers<number>()) - 1]!.promise,
    60_000,
    () => 0,
  );
  const stale = recall('key');
  recall.forget('key');
  const fresh = recall('key');
  loads[0]!.resolve(1);
  loads[1]!.resolve(2);
  assert.deepEqual([await stale, await fresh, await recall('key'), loads.length], [1, 2, 2, 2]);
});
