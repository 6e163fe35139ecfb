import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import type { Lease } from '@adsweep/shared/lease/messages.ts';
import { Renewals } from '../src/lease/renewals.ts';
import { FakeControlPlane, jobOf } from './support/fake-control-plane.ts';

const lease = (id: string): Lease => ({ lease_id: id, token: 'token', expires_in_ms: 10_000, job: jobOf() });

// The control plane runs in a worker thread, because the test keeps the main thread busy.
const COUNTING_PLANE = `
const { parentPort, workerData } = require('node:worker_threads');
const renewals = new Int32Array(workerData);
const server = require('node:http').createServer((request, response) => {
  Atomics.add(renewals, 0, 1);
  Atomics.notify(renewals, 0);
  response.end(JSON.stringify({ outcome: 'renewed', expires_in_ms: 10000 }));
});
server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));
`;

test('leases are renewed while the main thread is busy', async (t) => {
  const shared = new SharedArrayBuffer(4);
  const renewed = new Int32Array(shared);
  const plane = new Worker(COUNTING_PLANE, { eval: true, workerData: shared });
  t.after(() => plane.terminate());
  const [port] = await once(plane, 'message');
  const renewals = new Renewals(`http://127.0.0.1:${port}`, 20);
  t.after(() => renewals.close());
  renewals.hold(lease('lease-1'), 60_000, () => assert.fail('the lease is ours'));
  // Blocks this thread and its timers until three renewals were counted.
  for (let seen = 0; seen < 3; seen = Atomics.load(renewed, 0))
    assert.notEqual(Atomics.wait(renewed, 0, seen, 10_000), 'timed-out');
});

test('a lease that was dropped is no longer renewed, and others are', async (t) => {
  const plane = await FakeControlPlane.start();
  const renewals = new Renewals(plane.url, 10);
  t.after(() => Promise.all([renewals.close(), plane.close()]));
  const release = renewals.hold(lease('lease-1'), 60_000, () => undefined);
  await plane.received('renew');
  release();
  renewals.hold(lease('lease-2'), 60_000, () => undefined);
  const of = (id: string) => plane.said.filter(({ leaseId }) => leaseId === id).length;
  await plane.until(() => of('lease-2') > 0);
  const before = of('lease-1');
  const after = of('lease-2') + 5;
  await plane.until(() => of('lease-2') >= after);
  assert.equal(of('lease-1'), before);
});

test('a lease whose capture hangs beyond its deadline is no longer renewed', async (t) => {
  const plane = await FakeControlPlane.start();
  const renewals = new Renewals(plane.url, 10);
  t.after(() => Promise.all([renewals.close(), plane.close()]));
  renewals.hold(lease('stuck'), -1, () => undefined);
  renewals.hold(lease('lease-2'), 60_000, () => undefined);
  await plane.until(() => plane.count('renew') >= 5);
  assert.ok(plane.said.every(({ leaseId }) => leaseId === 'lease-2'));
});

test('a lease survives an unreachable control plane, and ends if the control plane does not know it', async (t) => {
  const plane = await FakeControlPlane.start();
  const renewals = new Renewals(plane.url, 10);
  t.after(() => Promise.all([renewals.close(), plane.close()]));
  plane.refusals.renew = [0, 503, 404];
  const ended = new Promise((resolve) => renewals.hold(lease('lease-1'), 60_000, resolve));
  assert.equal(await ended, 'lost');
  assert.equal(plane.count('refused renew'), 2);
});
