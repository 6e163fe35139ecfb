import assert from 'node:assert/strict';
import { it, mock } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { untilAnswered } from '../src/wait-for-scan.ts';

it('an API that restarts is asked again although the clock is set forward meanwhile', async () => {
  mock.timers.enable({ apis: ['Date', 'setTimeout'] });
  try {
    let asked = 0;
    const answer = untilAnswered(async () => {
      asked += 1;
      if (asked > 1) return 'answered';
      mock.timers.setTime(3_600_000);
      throw new TypeError('fetch failed');
    });
    await setImmediate();
    mock.timers.tick(10_000);
    assert.equal(await answer, 'answered');
  } finally {
    mock.timers.reset();
  }
});
