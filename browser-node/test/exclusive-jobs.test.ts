import assert from 'node:assert/strict';
import { test } from 'node:test';
import { heldCaptures, leaseBench, untilIdle, untilSeen } from './support/lease-bench.ts';

test('an exclusive job begins once the others have ended and are reported; meanwhile the node takes no work', async (t) => {
  const { running, began, capture } = heldCaptures();
  const { plane, loop } = await leaseBench(t, capture, { slots: 3 });
  plane.give({ scan_id: 'first' });
  await untilSeen(plane, () => began.length === 1);
  const exclusive = plane.give({ scan_id: 'exclusive', isolation: 'node' });
  await plane.until(() => plane.said.some(({ call, leaseId }) => call === 'renew' && leaseId === exclusive));
  plane.give({ scan_id: 'next' });
  plane.refusals.alone = [503];
  assert.deepEqual(began, ['first']);
  assert.equal(plane.count('alone'), 0);

  running.get('first')?.();
  assert.equal((await plane.received('alone')).leaseId, exclusive);
  await untilSeen(plane, () => began.length === 2);
  assert.deepEqual([began, loop.busy], [['first', 'exclusive'], 1]);
  const order = plane.said
    .map(({ call }) => call)
    .filter((call) => ['complete', 'refused alone', 'alone'].includes(call));
  assert.deepEqual(order, ['complete', 'refused alone', 'alone']);

  running.get('exclusive')?.();
  await untilSeen(plane, () => began.length === 3);
  assert.equal(began[2], 'next');
  running.get('next')?.();
  await untilIdle(loop, plane);
});

test('with one browser for all, a job that must not share it runs alone', async (t) => {
  const { running, began, capture } = heldCaptures();
  const { plane, loop, pool } = await leaseBench(t, capture, { slots: 3 });
  pool.sharesBrowser = true;
  plane.give({ scan_id: 'first' });
  await untilSeen(plane, () => began.length === 1);
  plane.give({ scan_id: 'suspect', isolation: 'browser' });
  await untilSeen(plane, () => loop.busy === 2);
  assert.deepEqual([began, plane.count('alone')], [['first'], 0]);
  running.get('first')?.();
  await untilSeen(plane, () => began.length === 2);
  assert.deepEqual([began, plane.count('alone'), loop.busy], [['first', 'suspect'], 1, 1]);
  running.get('suspect')?.();
  await untilIdle(loop, plane);
});

test('of two exclusive jobs, the second one is returned at once', async (t) => {
  const { running, began, capture } = heldCaptures();
  const { plane, loop } = await leaseBench(t, capture, { slots: 3 });
  plane.hold = true;
  plane.give({ scan_id: 'one', isolation: 'node' });
  const second = plane.give({ scan_id: 'two', isolation: 'node' });
  plane.hold = false;
  plane.changed();
  assert.equal((await plane.received('release')).leaseId, second);
  await untilSeen(plane, () => began.length === 1);
  running.get('one')?.();
  await untilIdle(loop, plane);
  assert.deepEqual(began, ['one']);
});

test('a waiting exclusive job is returned at a drain, and ends if its lease is lost', async (t) => {
  for (const end of ['drain', 'lost']) {
    const { running, began, capture } = heldCaptures();
    const { plane, loop } = await leaseBench(t, capture, { slots: 2 });
    plane.give({ scan_id: 'first' });
    await untilSeen(plane, () => began.length === 1);
    const waiting = plane.give({ scan_id: 'waiting', isolation: 'node' });
    await plane.until(() => plane.said.some(({ call, leaseId }) => call === 'renew' && leaseId === waiting));
    if (end === 'lost') plane.renewals[waiting] = 'lost';
    const drained = end === 'drain' ? loop.drain(20_000) : null;
    if (end === 'drain') assert.equal((await plane.received('release')).leaseId, waiting);
    else await untilSeen(plane, () => loop.busy === 1);
    running.get('first')?.();
    await plane.received('complete');
    await drained;
    await untilIdle(loop, plane);
    assert.deepEqual([began, plane.count('alone')], [['first'], 0]);
  }
});

test('an exclusive job is returned if the control plane cannot be told of its start, and ends if its lease is lost', async (t) => {
  for (const [status, released] of [
    [422, 1],
    [409, 0],
  ] as const) {
    const { began, capture } = heldCaptures();
    const { plane, loop } = await leaseBench(t, capture);
    plane.refusals.alone = [status];
    plane.give({ isolation: 'node' });
    await plane.received('refused alone');
    await untilIdle(loop, plane);
    assert.deepEqual([began.length, plane.count('release')], [0, released]);
  }
});
