import assert from 'node:assert/strict';
import { test } from 'node:test';
import { excessive, priorityOf } from '../src/browser/renderer-watch.ts';

const MIB = 1024 * 1024;
const renderers = (...held: [own: number, charged?: number][]) =>
  new Map(
    held.map(([own, charged = 0], index) => [
      index + 1,
      { bytes: (own + 60) * MIB, own: own * MIB, charged: charged * MIB },
    ]),
  );

test('a renderer that holds too much memory ends, with the part of the browser that it caused', () => {
  assert.deepEqual(excessive(renderers([100], [990], [200]), 1_000 * MIB, 8), [2]);
  assert.deepEqual(excessive(renderers([100, 900], [300]), 1_000 * MIB, 8), [1]);
  assert.deepEqual(excessive(renderers([900], [300]), 1_000 * MIB, 8), []);
});

test('of frames that hold too much memory together, the largest end until the rest fits', () => {
  const frames = renderers([50], [600], [500], [550], [40]);
  assert.deepEqual(excessive(frames, 1_000 * MIB, 1), [2, 4]);
  assert.deepEqual(excessive(frames, 1_000 * MIB, 4), []);
});

test('a renderer gets a lower priority, the more CPU it has used', () => {
  assert.deepEqual([0, 1.9, 2, 4.5, 8, 500].map(priorityOf), [0, 0, 6, 12, 19, 19]);
});
