import assert from 'node:assert/strict';
import { test } from 'node:test';
import { growthOf } from '../growth-series.ts';

const series = (...values: number[]) => ({ name: 'node', unit: 'MiB', tolerated: 10, values });

test('what fills in the first third and stays does not grow', () => {
  assert.deepEqual(growthOf(series(50, 100, 180, 200, 201, 199, 203, 202, 200)), {
    middle: 200,
    last: 202,
    grows: false,
  });
});

test('what gains the same in each block grows', () => {
  assert.equal(growthOf(series(100, 120, 140, 160, 180, 200, 220, 240, 260)).grows, true);
});

test('one peak is no growth', () => {
  assert.equal(growthOf(series(100, 100, 100, 100, 100, 100, 400, 100, 100)).grows, false);
});

test('what comes and goes is tolerated where a tenth is less', () => {
  assert.equal(growthOf(series(40, 40, 40, 40, 40, 40, 49, 49, 49)).grows, false);
  assert.equal(growthOf(series(40, 40, 40, 40, 40, 40, 51, 51, 51)).grows, true);
});
