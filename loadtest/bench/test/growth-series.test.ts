import assert from 'node:assert/strict';
import { test } from 'node:test';
import { growthOf } from '../growth-series.ts';

const series = (...values: number[]) => ({ name: 'node', unit: 'MiB', tolerated: 10, values });

test('a series that rises in the first third and then stays does not grow', () => {
  assert.deepEqual(growthOf(series(50, 100, 180, 200, 201, 199, 203, 202, 200)), {
    middle: 200,
    last: 202,
    grows: false,
  });
});

test('a series that rises with each block grows', () => {
  assert.equal(growthOf(series(100, 120, 140, 160, 180, 200, 220, 240, 260)).grows, true);
});

test('a series with one peak does not grow', () => {
  assert.equal(growthOf(series(100, 100, 100, 100, 100, 100, 400, 100, 100)).grows, false);
});

test('a fluctuation within the tolerance is no growth, even above a tenth', () => {
  assert.equal(growthOf(series(40, 40, 40, 40, 40, 40, 49, 49, 49)).grows, false);
  assert.equal(growthOf(series(40, 40, 40, 40, 40, 40, 51, 51, 51)).grows, true);
});
