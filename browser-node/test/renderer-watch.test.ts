import assert from 'node:assert/strict';
import { test } from 'node:test';
import { busiest, nextBrake, ownCpuShare } from '../src/browser/renderer-brake.ts';
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

test('the share of a thread is that on a CPU of its own, however long it waited for one', () => {
  const share = (ranMs: number, waitedMs: number) =>
    ownCpuShare({ ranMs: 5, waitedMs: 7 }, { ranMs: 5 + ranMs, waitedMs: 7 + waitedMs }, 100);
  assert.deepEqual([share(60, 0), share(30, 50), share(30, 70), share(30, 90), share(0, 100)], [0.6, 0.6, 1, 1, 0]);
});

test('the renderers with the most recent CPU time are braked, and none that has only begun', () => {
  const recent = (...seconds: number[]) => new Map(seconds.map((one, index) => [index + 1, one]));
  assert.deepEqual(busiest(recent(0.2, 1, 0.8, 0.6)), [2, 3]);
  assert.deepEqual(busiest(recent(0.09, 0.01)), []);
  assert.deepEqual(busiest(recent()), []);
});

test('the brake is on from the third congested tick, off for one tick in five, and off when the congestion ends', () => {
  const stops = (congested: string) => {
    let state = { congestedTicks: 0, stoppedTicks: 0 };
    const isOn = [...congested].map((tick) => {
      state = nextBrake(state, tick === 'x');
      return state.stoppedTicks > 0 ? 'x' : '-';
    });
    return isOn.join('');
  };
  assert.equal(stops('xx-xxxxxxxxxxxx--x'), '-----xxxx-xxxx----');
});
