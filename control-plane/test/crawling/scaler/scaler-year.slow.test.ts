import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isNearOutage, simulateYear, waitBounds } from '../../support/simulated-year.ts';

const COOL_DOWN_MS = 600_000;

describe('the scaler over a simulated year', () => {
  it('is never above the need for longer than the cool-down, and jobs wait no longer than they may but in an outage', () => {
    const tickMs = 60_000;
    const limits = { min: 1, max: 24, coolDownMs: COOL_DOWN_MS };
    const bounds = waitBounds(tickMs);
    const needs: { at: number; need: number }[] = [];
    let [most, bad] = [0, 0];
    const { started, drained } = simulateYear({ days: 365, tickMs, limits, seed: 7 }, (tick) => {
      while (needs.length > 0 && needs.at(-1)!.need <= tick.need) needs.pop();
      needs.push({ at: tick.at, need: tick.need });
      while (needs[0]!.at <= tick.at - COOL_DOWN_MS - tickMs) needs.shift();
      const surge = tick.outdated > 0 ? 1 : 0;
      const isAsNeeded = tick.nodes <= Math.max(limits.min, needs[0]!.need) + surge;
      const isWithinMost = tick.draining === 0 || tick.nodes + tick.draining <= 24;
      const isInTime =
        isNearOutage(tick.at, 3_600_000) ||
        (tick.oldest.bulk <= bounds.bulk && tick.oldest.campaign <= bounds.campaign);
      // Half a million ticks: their text is made only for one that is wrong.
      if (!(isAsNeeded && isWithinMost && isInTime))
        assert.fail(JSON.stringify({ isAsNeeded, isWithinMost, isInTime, tick }));
      most = Math.max(most, tick.nodes);
      if (tick.image === 'bad' && tick.outdated === 0) bad += 1;
    });
    assert.ok(most >= 15, `${most} nodes: the year has work`);
    assert.equal(bad, 0, 'nodes of the image that works remain while another one is bad');
    const early = drained.filter(({ livedMs, isReplaced }) => !isReplaced && livedMs < COOL_DOWN_MS);
    assert.deepEqual(early, [], 'no node is drained sooner than the cool-down after its start');
    assert.ok(drained.filter(({ isReplaced }) => isReplaced).length >= 3, 'nodes of earlier images were replaced');
    assert.ok(started / 365 < 30, `${started} starts`);
  });
});
