import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it, mock } from 'node:test';
import { retry } from '../src/service/retry.ts';

const HOUR_MS = 3_600_000;
const CALLS_MAX = 50;

/** How often a call is made that always fails, and each time sets the clock by `jumpMs`. */
async function callsBeforeGivingUp(forMs: number, jumpMs: number): Promise<number> {
  let calls = 0;
  const policy = { forMs, minMs: 2, maxMs: 2 };
  const call = async () => {
    calls += 1;
    mock.timers.setTime(Date.now() + jumpMs);
    throw new Error('unavailable');
  };
  const isRetryable = () => calls < CALLS_MAX;
  await assert.rejects(retry(call, { policy, isRetryable, signal: new AbortController().signal }), /unavailable/);
  return calls;
}

describe('the time for which a call is retried', () => {
  beforeEach(() => mock.timers.enable({ apis: ['Date'], now: 1_000 * HOUR_MS }));
  afterEach(() => mock.timers.reset());

  it('does not end early when the clock is set forward', async () => {
    assert.equal(await callsBeforeGivingUp(60_000, HOUR_MS), CALLS_MAX);
  });

  it('ends although the clock is set back', async () => {
    assert.ok((await callsBeforeGivingUp(10, -HOUR_MS)) < CALLS_MAX);
  });
});
