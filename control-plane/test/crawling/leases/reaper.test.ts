import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { LOSS_NOTICED_MS, ReaperGrace } from '../../../src/crawling/leases/reaper.ts';

describe('the grace period of the reaper', () => {
  /** A grace period of ten seconds with a step each second, on a clock that the test sets. */
  function graceAt() {
    const time = { now: 0 };
    const grace = new ReaperGrace({ graceMs: 10_000, everyMs: 1_000, clock: () => time.now });
    const turn = (afterMs: number, connection = 1) => {
      time.now += afterMs;
      return grace.mayReap(connection);
    };
    /** Runs steps on time until leases may be reaped; returns how long that took. */
    const untilOver = (connection = 1) => {
      const began = time.now;
      while (!turn(1_000, connection)) assert.ok(time.now - began < 60_000);
      return time.now - began;
    };
    return { time, grace, turn, untilOver };
  }

  it('leaves time for the scans of a lost node to be leased again within 15 s', () => {
    assert.ok(LOSS_NOTICED_MS < 15_000, `${LOSS_NOTICED_MS} ms`);
  });

  it('lasts as long as a lease, from the first step on', () => {
    const { turn } = graceAt();
    assert.equal(turn(0), false);
    for (let n = 1; n < 10; n += 1) assert.equal(turn(1_000), false, `after ${n} s`);
    assert.equal(turn(1_000), true);
  });

  it('starts over when a step is more than a second late', () => {
    const { turn, untilOver } = graceAt();
    untilOver();
    assert.equal(turn(2_000), true, 'a second late');
    assert.equal(turn(2_001), false, 'more than a second late');
    assert.equal(untilOver(), 10_000);
  });

  it('starts over when Redis takes more than a second to answer, was unavailable or was reconnected', () => {
    const { time, grace, turn, untilOver } = graceAt();
    untilOver();
    time.now += 1_001;
    assert.equal(grace.stillOnTime(), false, 'a late answer');
    assert.equal(untilOver(), 10_000);
    grace.restart();
    assert.equal(turn(1_000), false, 'after an error');
    untilOver();
    assert.equal(turn(1_000, 2), false, 'after a reconnect');
    assert.equal(untilOver(2), 10_000);
  });
});
