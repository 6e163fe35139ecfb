import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  afterTry,
  dueOfOutage,
  type Health,
  healthyFrom,
  outageDueAt,
  probePauseMs,
  successRate,
} from '../../../src/delivery/webhooks/health.ts';

const START = Date.parse('2026-03-01T10:00:00Z');
const [SECOND, HOUR] = [1_000, 3_600_000];
const at = (ms: number) => new Date(START + ms);

/** A try that ends at `ms`; by default one that failed, began then and does not end the window. */
const tried = (
  health: Health,
  ms: number,
  { ok = false, beganAt = ms, retryAfterMs = null as number | null, windowEndsAt = 48 * HOUR } = {},
): Health => {
  const of = { startedAt: at(beganAt), at: at(ms), status: ok ? 200 : 500, succeeded: ok, retryAfterMs };
  return afterTry(health, of, at(windowEndsAt), 0);
};
const pauseOf = ({ paused_until }: Health, ms: number): number => paused_until!.getTime() - at(ms).getTime();

/** The health after failed probes up to `untilMs`, each when its pause ends. */
function downUntil(untilMs: number): Health {
  let [health, ms] = [tried(healthyFrom([]), 0), 0];
  for (;;) {
    ms = health.paused_until!.getTime() - START;
    if (ms > untilMs) return health;
    health = tried(health, ms);
  }
}

describe('the health of a webhook endpoint', () => {
  test('§6.4.11 pauses are 5 s, double to 1 h, and are shortened by at most a fifth', () => {
    const pauses = Array.from({ length: 14 }, (_, probes) => probePauseMs(probes, 0) / SECOND);
    assert.deepEqual(pauses, [5, 10, 20, 40, 80, 160, 320, 640, 1280, 2560, 3600, 3600, 3600, 3600]);
    assert.equal(probePauseMs(0, 1), 4 * SECOND);
    assert.equal(probePauseMs(20, 1), 0.8 * HOUR);
  });

  test('§6.4.11 Retry-After makes a pause longer, but none goes beyond the window of the event', () => {
    const health = healthyFrom([]);
    assert.equal(pauseOf(tried(health, 0, { retryAfterMs: 3 * HOUR }), 0), 3 * HOUR);
    assert.equal(pauseOf(tried(health, 0, { retryAfterMs: SECOND }), 0), 5 * SECOND);
    assert.equal(pauseOf(tried(health, 0, { retryAfterMs: 90 * HOUR, windowEndsAt: 24 * HOUR }), 0), 24 * HOUR);
    assert.equal(pauseOf(tried(downUntil(20 * HOUR), 23.5 * HOUR, { windowEndsAt: 24 * HOUR }), 23.5 * HOUR), HOUR / 2);
  });

  test('§6.4.11 of failures that were under way together one lengthens the pause, all count', () => {
    const first = tried(healthyFrom([]), 0);
    const third = tried(tried(first, 1, { beganAt: -5 }), 2, { beganAt: -5 });
    assert.deepEqual([third.probes, third.consecutive_failures], [1, 3]);
    assert.deepEqual(third.paused_until, first.paused_until);
    assert.equal(tried(third, 5 * SECOND).probes, 2);
  });

  test('§6.4.11 a 2xx ends the outage; one that began before the failure moves its beginning alone', () => {
    const failing = tried(tried(healthyFrom([]), 0), 5 * SECOND);
    const late = tried(failing, 6 * SECOND, { ok: true, beganAt: -1 });
    assert.deepEqual([late.failing_since, late.paused_until], [at(6 * SECOND), failing.paused_until]);
    const { failing_since, paused_until, probes, consecutive_failures } = tried(failing, 15 * SECOND, { ok: true });
    assert.deepEqual([failing_since, paused_until, probes, consecutive_failures], [null, null, 0, 0]);
  });

  test('§6.4.12 after 1 h down the warning is due once, after 23 h nothing, after 25 h the switch-off', () => {
    for (const [hours, warned, due] of [
      [0.9, false, null],
      [1, false, 'warn'],
      [23, true, null],
      [24, true, 'switch_off'],
      [25, false, 'switch_off'],
    ] as const) {
      const health = { ...downUntil(hours * HOUR), is_warned: warned };
      assert.deepEqual(health.failing_since, at(0));
      assert.equal(dueOfOutage(health, at(hours * HOUR)), due, `${hours} h`);
    }
    const failing = downUntil(0);
    assert.deepEqual(outageDueAt(failing), at(HOUR));
    assert.deepEqual(outageDueAt({ ...failing, is_warned: true }), at(24 * HOUR));
    assert.equal(dueOfOutage(healthyFrom([]), at(25 * HOUR)), null);
  });

  test('§6.4.1 success_rate_7d counts the tries of seven days, and is 1 without any', () => {
    assert.equal(successRate(healthyFrom([]), at(0)), 1);
    const mixed = tried(tried(tried(tried(healthyFrom([]), 0), 1), 2), 5 * SECOND, { ok: true });
    assert.equal(successRate(mixed, at(0)), 0.25);
    assert.equal(successRate(mixed, at(6 * 24 * HOUR)), 0.25);
    assert.equal(successRate(mixed, at(7 * 24 * HOUR)), 1);
    let long = healthyFrom([]);
    for (let day = 0; day < 30; day += 1) long = tried(long, day * 24 * HOUR, { ok: true });
    assert.equal(long.days.length, 8, 'older days are dropped');
  });
});
