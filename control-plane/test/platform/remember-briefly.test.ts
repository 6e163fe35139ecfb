import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rememberBriefly } from '../../src/platform/remember-briefly.ts';

test('what was asked a moment ago is not asked again, for each key by itself, until its time is over', async () => {
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

test('a failure is not remembered', async () => {
  let fails = true;
  const read = rememberBriefly(async () => {
    if (fails) throw new Error('the store is away');
    return 'there';
  }, 1_000);
  await assert.rejects(read('a'), /away/);
  fails = false;
  assert.equal(await read('a'), 'there');
});

test('unknown keys cannot fill the memory', async () => {
  let asked = 0;
  const read = rememberBriefly(async () => ++asked, 1_000_000);
  for (let n = 0; n < 10_001; n++) await read(`key ${n}`);
  await read('key 0');
  assert.equal(asked, 10_002);
});
