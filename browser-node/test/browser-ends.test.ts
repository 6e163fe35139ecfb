import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Fail } from '@adsweep/shared/lease/messages.ts';
import type { CaptureFailure, CapturePage } from '../src/capture/session/capture-outcome.ts';
import { waitsFor } from '../src/node/watch-service.ts';
import { goodOutcome, leaseBench } from './support/lease-bench.ts';

const CRASH: CaptureFailure = { code: 'browser: CRASHED', cause: 'the browser context was closed' };

/** A capture that succeeds if its browser is running. */
const whileItLives: CapturePage = async (_job, open) => ({
  ...goodOutcome(),
  failure: open.browserEnded() ? CRASH : null,
});

const exitsAskedFor = (calls: string[]): number => calls.filter((call) => call === 'POST /exits').length;

test('a capture whose shared browser ends is repeated in a browser of its own with a new ticket, and completes', async (t) => {
  const { plane, pool, router } = await leaseBench(t, whileItLives);
  pool.ending = ['shared'];
  plane.give();
  await plane.received('complete');
  assert.deepEqual(
    [pool.isolated, pool.last],
    [
      [false, true],
      [false, false],
    ],
  );
  assert.equal(exitsAskedFor(router.calls), 2);
});

test('a capture whose page leaves the shared browser is repeated in a browser of its own, which goes last', async (t) => {
  const { plane, pool } = await leaseBench(t, whileItLives);
  pool.leaves = true;
  plane.give();
  await plane.received('complete');
  assert.deepEqual(
    [pool.isolated, pool.last],
    [
      [false, true],
      [false, true],
    ],
  );
});

test('a capture that gets no context in a shared browser runs in a browser of its own', async (t) => {
  const { plane, pool } = await leaseBench(t, whileItLives);
  pool.refusing = ['shared'];
  plane.give();
  await plane.received('complete');
  assert.deepEqual(pool.isolated, [false, true]);
});

test('a node whose browser does not start gives its jobs back and takes no others until it does', async (t) => {
  const { plane, pool, loop } = await leaseBench(t, whileItLives, { watchesBrowser: true });
  pool.refusing = ['shared', 'own'];
  plane.hold = true;
  plane.give();
  plane.give({ job_id: 'job-2', scan_id: 'scan-2' });
  plane.hold = false;
  plane.give({ job_id: 'job-3', scan_id: 'scan-3' });
  await plane.until(() => plane.count('release') >= 2);
  await plane.until(() => plane.acquiring === 0);
  assert.deepEqual(waitsFor(loop.gate), { waits_for: ['browser'] });
  assert.deepEqual([plane.count('fail'), pool.opened], [0, 0]);
  plane.give({ job_id: 'job-4', scan_id: 'scan-4' });
  pool.refusing = [];
  await plane.until(() => plane.count('complete') >= 1);
  assert.deepEqual(waitsFor(loop.gate), {});
});

const TIMEOUT: CaptureFailure = { code: 'browser: TIMEOUT', cause: 'Target.setAutoAttach took longer than 5000 ms' };

test('a capture whose shared browser does not respond is repeated in a browser of its own', async (t) => {
  let captures = 0;
  const { plane, pool } = await leaseBench(t, async () => {
    captures += 1;
    return { ...goodOutcome(), failure: captures === 1 ? TIMEOUT : null };
  });
  plane.give();
  await plane.received('complete');
  assert.deepEqual(pool.isolated, [false, true]);
});

test('a capture whose own browser does not respond either fails', async (t) => {
  const { plane, pool } = await leaseBench(t, async () => ({ ...goodOutcome(), failure: TIMEOUT }));
  plane.give();
  assert.equal(((await plane.received('fail')).body as Fail).code, 'browser: TIMEOUT');
  assert.deepEqual(pool.isolated, [false, true]);
});

test('a capture whose own browser ends too fails', async (t) => {
  const { plane, pool } = await leaseBench(t, whileItLives);
  pool.ending = ['shared', 'own'];
  plane.give();
  assert.equal(((await plane.received('fail')).body as Fail).code, 'browser: CRASHED');
  assert.deepEqual(pool.isolated, [false, true]);
});

test('a page that crashes in a browser that keeps running fails without a repetition', async (t) => {
  const { plane, pool } = await leaseBench(t, async () => ({ ...goodOutcome(), failure: CRASH }));
  plane.give();
  assert.equal(((await plane.received('fail')).body as Fail).code, 'browser: CRASHED');
  assert.deepEqual(pool.isolated, [false]);
});
