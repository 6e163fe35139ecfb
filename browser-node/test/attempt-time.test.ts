import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { JOB_LIMITS } from '@adsweep/shared/lease/job-limits.ts';
import type { Fail } from '@adsweep/shared/lease/messages.ts';
import type { CapturePage } from '../src/capture/session/capture-outcome.ts';
import { endlessCapture, instantly, leaseBench, members, uneventfulCapture, untilIdle } from './support/lease-bench.ts';

const LIMIT_MS = 1_000;

/** As `capture`, and the time of its attempt runs out once it has begun, however long it takes until then. */
function outOfTime(t: TestContext, capture: CapturePage): CapturePage {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  return (...args) => {
    setImmediate(() => t.mock.timers.tick(LIMIT_MS));
    return capture(...args);
  };
}

for (const outcome of ['lost', 'cancelled'] as const) {
  test(`a lease that is ${outcome} ends the capture, and the node reports nothing more about it`, async (t) => {
    const { plane, pool, loop } = await leaseBench(t, endlessCapture);
    plane.give();
    await plane.received('renew');
    plane.renewal = outcome;
    await untilIdle(loop, plane);
    assert.equal(pool.live, 0);
    for (const call of ['complete', 'fail', 'release', 'artifacts']) assert.equal(plane.count(call), 0, call);
  });
}

test('an attempt beyond its time limit fails with browser: TIMEOUT and keeps its evidence', async (t) => {
  const { plane } = await leaseBench(t, outOfTime(t, endlessCapture), { attemptMs: LIMIT_MS });
  plane.give();
  const fail = (await plane.received('fail')).body as Fail;
  assert.equal(fail.code, 'browser: TIMEOUT');
  assert.deepEqual(fail.capture?.browser, uneventfulCapture().browser);
});

test('a capture that ignores its abort signal fails with browser: TIMEOUT and frees its slot', async (t) => {
  const { plane, pool, loop } = await leaseBench(t, () => new Promise(() => undefined), { attemptMs: 100 });
  plane.give();
  const fail = (await plane.received('fail')).body as Fail;
  assert.equal(fail.code, 'browser: TIMEOUT');
  assert.equal(fail.capture, null);
  await untilIdle(loop, plane);
  assert.equal(pool.live, 0);
});

test('a member beyond the time limit of its job or node does not shorten the time of the other members', async (t) => {
  const late = outOfTime(t, endlessCapture);
  const capture: CapturePage = (request, ...rest) =>
    request.scan_id === 'slow' ? late(request, ...rest) : instantly(request, ...rest);
  for (const [seconds, attemptMs] of [
    [LIMIT_MS / 1_000, 30_000],
    [90, LIMIT_MS],
  ] as const) {
    const { plane } = await leaseBench(t, capture, { attemptMs });
    plane.give({ members: members('slow', 'next'), limits: { ...JOB_LIMITS.page, seconds } });
    assert.equal(((await plane.received('fail')).body as Fail).code, 'browser: TIMEOUT');
    assert.equal((await plane.received('complete')).scanId, 'next');
  }
});
