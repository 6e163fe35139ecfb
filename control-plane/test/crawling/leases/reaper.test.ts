import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { createLogger } from '@adsweep/shared/service/logger.ts';
import { until } from '../../../../shared/test/support/until.ts';
import {
  LOSS_NOTICED_MS,
  type ReaperDependencies,
  ReaperGrace,
  startReaper,
} from '../../../src/crawling/leases/reaper.ts';

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

describe('a reaper that has many leases to end', () => {
  /**
   * A reaper with a grace period of a second. The first 200 leases take `endsMs` to end; `reapedAt`, `endedAt` and
   * `askedAt`, when it asked Redis since the first ones, are by its clock. `isAway`: Redis fails.
   */
  function reaping(t: TestContext, endsMs: number) {
    const seen = { reapedAt: [] as number[], endedAt: 0, askedAt: [] as number[], isAway: false, aheadMs: 0 };
    const clock = () => performance.now() + seen.aheadMs;
    const queue = {
      connection: () => 1,
      depth: async () => {
        if (seen.reapedAt.length > 0) seen.askedAt.push(clock());
        if (seen.isAway) throw new Error('Redis is away');
      },
      end: async () => true,
      reap: async () => {
        seen.reapedAt.push(clock());
        return seen.reapedAt.length > 1
          ? []
          : Array.from({ length: 200 }, (_, at) => ({ jobId: `job-${at}`, fence: 1, organizationId: 'org' }));
      },
    };
    const membersOf = async () => {
      await setTimeout(endsMs / 2);
      seen.endedAt = clock();
      return [];
    };
    const logger = createLogger('test', 'silent');
    const loop = startReaper({ queue, scans: { membersOf }, logger } as unknown as ReaperDependencies, {
      graceMs: 1_000,
      clock,
    });
    t.after(() => loop.stop());
    return seen;
  }

  it('takes the time for that for no pause, and reaps the next ones at once', async (t) => {
    const seen = reaping(t, 3_000);
    const [first, second] = await until('two calls', () => seen.reapedAt.length > 1 && seen.reapedAt);
    assert.ok(second! - first! > 2_500);
    assert.ok(second! - seen.endedAt < 500, `${second! - seen.endedAt} ms after the end`);
  });

  it('has ended them before its next step if Redis fails in that time', async (t) => {
    const seen = reaping(t, 2_600);
    await until('the first call', () => seen.reapedAt.length > 0);
    seen.isAway = true;
    const [, next] = await until('a step after the one that failed', () => seen.askedAt.length > 1 && seen.askedAt);
    assert.ok(seen.endedAt - seen.reapedAt[0]! > 2_500 && next! > seen.endedAt);
  });

  it('notices a pause in that time, and leaves live nodes the time to renew their leases', async (t) => {
    const seen = reaping(t, 1_500);
    await until('the first call', () => seen.reapedAt.length > 0);
    seen.aheadMs = 20_000;
    const [, second] = await until('two calls', () => seen.reapedAt.length > 1 && seen.reapedAt);
    // Timers may fire a little early.
    assert.ok(second! - seen.endedAt >= 990, `${second! - seen.endedAt} ms after the end`);
  });
});
