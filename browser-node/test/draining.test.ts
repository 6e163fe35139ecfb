import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { LeaseClient } from '@adsweep/shared/lease/client.ts';
import type { NodeReport, Registered } from '@adsweep/shared/lease/messages.ts';
import { createLogger } from '@adsweep/shared/service/logger.ts';
import { Registry } from 'prom-client';
import { createMetrics } from '../src/metrics.ts';
import { drainOnRequest, Heartbeat } from '../src/node/heartbeat.ts';
import {
  endlessCapture,
  goodOutcome,
  heldCaptures,
  leaseBench,
  members,
  NODE_REPORT,
  untilIdle,
  untilSeen,
} from './support/lease-bench.ts';

test('a drain without grace returns running captures at once and takes no more work', async (t) => {
  const { plane, loop } = await leaseBench(t, endlessCapture);
  const leaseId = plane.give();
  await plane.received('renew');
  await loop.drain(0);
  assert.equal((await plane.received('release')).leaseId, leaseId);
  assert.equal(loop.busy, 0);
  plane.give();
  assert.equal(plane.count('fail') + plane.count('complete'), 0);
});

test('a drain with enough grace lets a running capture complete', async (t) => {
  let end = () => {};
  const { plane, loop } = await leaseBench(t, () => new Promise((resolve) => (end = () => resolve(goodOutcome()))));
  plane.give();
  await plane.received('renew');
  const drained = loop.drain(20_000);
  end();
  await drained;
  assert.equal(plane.count('complete'), 1);
  assert.equal(plane.count('release'), 0);
});

test('a drain under load fails no scan: running members are completed, and the others are returned', async (t) => {
  const { running, began, capture } = heldCaptures();
  const { plane, loop } = await leaseBench(t, capture, { slots: 4 });
  const given = ['one', 'two', 'three', 'four'].map((id) => plane.give({ members: members(id, `${id}-next`) }));
  await untilSeen(plane, () => began.length === 4);
  const drained = loop.drain(60_000);
  for (const id of [...began]) running.get(id)?.();
  await drained;
  assert.deepEqual([plane.count('complete'), plane.count('release'), plane.count('fail')], [4, given.length, 0]);
  assert.equal(began.length, 4, 'no member begins during a drain');
});

test('a node that gets a second stop signal returns its running captures at once', async (t) => {
  const { plane, loop } = await leaseBench(t, endlessCapture);
  const leaseId = plane.give();
  await plane.received('renew');
  const stopped = loop.stop(600_000);
  loop.releaseAll();
  assert.equal((await plane.received('release')).leaseId, leaseId);
  await stopped;
});

test('a node drains until the operator resumes it, and then takes work again', async (t) => {
  const { running, began, capture } = heldCaptures();
  const { plane, loop, metrics } = await leaseBench(t, capture);
  const logger = createLogger('test', 'silent');
  const api = new LeaseClient(plane.url, 'node-token');
  const report = () => ({ ...NODE_REPORT, busy: loop.busy, draining: loop.draining });
  const answered = drainOnRequest(loop, 600_000, logger);
  const heartbeat = new Heartbeat(api, 'node-1', { report, answered }, metrics, logger);
  t.after(() => heartbeat.stop());
  const reported = (draining: boolean, busy: number) => () =>
    plane.said.some(
      ({ call, body }) => call === 'report' && isDeepStrictEqual(body, { ...NODE_REPORT, draining, busy }),
    );

  plane.give({ scan_id: 'first' });
  await untilSeen(plane, () => began.length === 1);
  plane.drain = true;
  await heartbeat.start(10);
  await untilSeen(plane, reported(true, 1));
  plane.give({ scan_id: 'second' });
  running.get('first')?.();
  await untilSeen(plane, reported(true, 0));
  assert.deepEqual([began, plane.count('complete')], [['first'], 1]);

  plane.drain = false;
  await untilSeen(plane, () => began.length === 2);
  running.get('second')?.();
  await untilIdle(loop, plane);
  assert.deepEqual([plane.count('complete'), plane.count('release'), plane.count('fail')], [2, 0, 0]);
});

test('a report waits for the answer to the one before, so that a node is registered once and no older state follows a newer one', async (t) => {
  const asked: { busy: number; answer: () => void }[] = [];
  const api = {
    report: (_id: string, { busy }: NodeReport) =>
      new Promise<Registered>((resolve) => {
        asked.push({ busy, answer: () => resolve({ credential: 'of the node' }) });
      }),
  };
  let busy = 0;
  const reporting = { report: () => ({ ...NODE_REPORT, busy: busy++ }), answered: () => undefined };
  const metrics = createMetrics(new Registry());
  const heartbeat = new Heartbeat(api, 'node-1', reporting, metrics, createLogger('test', 'silent'));
  t.after(() => heartbeat.stop());
  const seen = async () => {
    for (let turns = 0; turns < 10; turns += 1) await setImmediate();
    return asked.map((one) => one.busy);
  };
  t.mock.timers.enable({ apis: ['setInterval'] });
  const started = heartbeat.start(1_000);
  await seen();
  t.mock.timers.tick(3_000);
  const last = heartbeat.beat();
  assert.deepEqual(await seen(), [0]);
  asked[0]?.answer();
  await started;
  assert.deepEqual(await seen(), [0, 1]);
  asked[1]?.answer();
  await last;
});

test('an acquire response that asks for a drain starts it at once, and running captures complete', async (t) => {
  const { running, began, capture } = heldCaptures();
  const { plane, loop } = await leaseBench(t, capture, { slots: 2 });
  const answered = drainOnRequest(loop, 600_000, createLogger('test', 'silent'));
  loop.drainRequested = () => answered({ drain: true });
  plane.give();
  await untilSeen(plane, () => began.length === 1 && plane.count('acquire') === 2);
  plane.drain = true;
  plane.changed();
  await untilSeen(plane, () => loop.draining);
  for (const id of began) running.get(id)?.();
  await untilIdle(loop, plane);
  assert.deepEqual([plane.count('complete'), plane.count('release'), plane.count('acquire')], [1, 0, 2]);
});
