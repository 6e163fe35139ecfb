import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { percentile } from '../../bench/report.ts';
import { type Scenario, valueAt } from '../../scenarios/scenario.ts';
import { drawRun } from '../draw-run.ts';
import { compareQuantities, quantityOf } from '../quantities.ts';

const SCENARIOS = join(import.meta.dirname, '../../scenarios');

it('every scenario has steps from the beginning in ascending order, and limits for its organizations', async () => {
  const files = readdirSync(SCENARIOS).filter((name) => name !== 'scenario.ts');
  assert.ok(files.length >= 8);
  for (const file of files) {
    const { scenario } = (await import(join(SCENARIOS, file))) as { scenario: Scenario };
    const { tenants, nodes, secondsMax, captureSeconds } = scenario;
    for (const steps of [nodes, ...Object.values(tenants).map(({ scansPerSecond }) => scansPerSecond)]) {
      const shares = steps.map(([share]) => share);
      assert.equal(shares[0], 0, file);
      assert.deepEqual(
        shares,
        shares.toSorted((a, b) => a - b),
        file,
      );
      assert.ok(shares.every((share) => share <= 1));
    }
    assert.ok(
      nodes.every(([, count]) => count > 0),
      file,
    );
    assert.ok(Object.keys(secondsMax).length > 0 && Object.keys(secondsMax).every((name) => name in tenants), file);
    // A limit below one capture could never be kept.
    assert.ok(
      Object.values(secondsMax).every((most) => most > captureSeconds[1]),
      file,
    );
  }
});

it('a step holds until the next one', () => {
  const steps = [
    [0, 1],
    [0.5, 4],
  ] as const;
  assert.deepEqual(
    [0, 0.49, 0.5, 1].map((share) => valueAt(steps, share)),
    [1, 1, 4, 4],
  );
});

it('percentiles, and two results beside each other', () => {
  const values = Array.from({ length: 100 }, (_, index) => 100 - index);
  assert.equal(percentile(values, 0.95), 96);
  const one = (...numbers: number[]) => ({ wait: quantityOf(numbers, 's') });
  assert.match(compareQuantities(one(9, 10, 11), one(10, 10.5, 12)), /wait, s .* \+5 % \| as before/);
  assert.match(compareQuantities(one(9, 10, 11), one(10, 13, 15)), /\+30 % \| differs within the ranges/);
  assert.match(compareQuantities(one(9, 10, 11), one(20, 21, 22)), /\+110 % \| differs: their ranges are apart/);
  assert.match(compareQuantities(one(9, 10, 11), one(4, 5, 6)), /-50 % \| differs: their ranges are apart/);
  assert.match(compareQuantities(one(0, 0, 0), one(1, 1, 1)), /Infinity/);
});

it('a chart has the least, the median and the most of each twelfth', () => {
  const samples = Array.from({ length: 24 }, (_, at) => ({ requested: at % 2, completed: 3, waiting: at, nodes: 4 }));
  const svg = drawRun('Load: test', samples);
  assert.equal(svg.match(/<polyline/g)?.length, 12);
  for (const label of ['median: 23', 'least: 22', 'most: 23', 'Nodes']) assert.ok(svg.includes(label), label);
});
