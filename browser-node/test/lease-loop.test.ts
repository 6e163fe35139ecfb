import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../../shared/test/support/until.ts';
import { goodOutcome, instantly, leaseBench } from './support/lease-bench.ts';

test('captures run in all slots and no more, and each freed slot is filled', async (t) => {
  const ends: (() => void)[] = [];
  const { plane, pool } = await leaseBench(
    t,
    () =>
      new Promise((resolve) => {
        ends.push(() => resolve(goodOutcome()));
        plane.changed();
      }),
    { slots: 2 },
  );
  for (let n = 0; n < 5; n++) plane.give({ scan_id: `scan-${n}` });
  for (let n = 0; n < 5; n++) {
    await plane.until(() => ends.length >= Math.min(n + 2, 5));
    assert.ok(pool.live <= 2);
    ends[n]?.();
    await plane.until(() => plane.count('complete') === n + 1);
  }
});

test('a node with more slots takes more work at once, and with fewer ends none', async (t) => {
  const ends: (() => void)[] = [];
  const { plane, loop } = await leaseBench(
    t,
    () =>
      new Promise((resolve) => {
        ends.push(() => resolve(goodOutcome()));
        plane.changed();
      }),
    { slots: 1 },
  );
  for (let n = 0; n < 4; n++) plane.give({ scan_id: `scan-${n}` });
  await plane.until(() => ends.length === 1);
  loop.resize(3);
  await plane.until(() => ends.length === 3);
  loop.resize(1);
  ends[0]?.();
  await until('the end of the first', () => loop.busy === 2);
  assert.equal(ends.length, 3);
  ends[1]?.();
  ends[2]?.();
  await plane.until(() => ends.length === 4);
  ends[3]?.();
  await plane.until(() => plane.count('complete') === 4);
});

test('a node acquires again after the control plane refused an acquire or cut its connection', async (t) => {
  const { plane } = await leaseBench(t, instantly);
  plane.refusals.acquire = [500];
  plane.give();
  // The pending poll gets this job; the next poll is refused first.
  await plane.received('complete');
  plane.give();
  await plane.until(() => plane.count('complete') === 2);
});

for (const [isolation, isolated] of [
  ['shared', false],
  ['browser', true],
  ['node', true],
] as const)
  test(`a job of isolation ${isolation} gets ${isolated ? 'a browser of its own' : 'a context beside others'}`, async (t) => {
    const { plane, pool } = await leaseBench(t, instantly);
    plane.give({ isolation });
    await plane.received('complete');
    assert.deepEqual(pool.isolated, [isolated]);
  });
