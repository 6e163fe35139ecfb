import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { desiredNodes, slotsPerNode, WAIT_TARGET_SECONDS } from '../../../src/crawling/fleet/desired-nodes.ts';
import type { ReportedNode } from '../../../src/crawling/fleet/nodes.ts';
import type { QueueLoad } from '../../../src/crawling/queue/read-depth.ts';
import { joinReports } from '../../../src/crawling/scaler/join-reports.ts';
import { REPORT } from '../../support/simulated-node.ts';

const NO_LOAD: QueueLoad = {
  waiting: { 0: 0, 1: 0, 2: 0 },
  running: { 0: 0, 1: 0, 2: 0 },
  capped: { 0: 0, 1: 0, 2: 0 },
  delayed: 0,
  leased: 0,
  seconds: { 0: 10, 1: 10, 2: 10 },
};
const NO_MARKS = { blocked: new Set<string>(), draining: new Set<string>() };

const counts = fc.nat({ max: 20_000 });
const seconds = fc.option(fc.double({ min: 0.1, max: 600, noNaN: true }), { nil: null });
const loads: fc.Arbitrary<QueueLoad> = fc.record({
  waiting: fc.record({ 0: counts, 1: counts, 2: counts }),
  running: fc.record({ 0: counts, 1: counts, 2: counts }),
  capped: fc.constant({ 0: 0, 1: 0, 2: 0 }),
  delayed: counts,
  leased: fc.constant(0),
  seconds: fc.record({ 0: seconds, 1: seconds, 2: seconds }),
});
const sum = (of: Record<0 | 1 | 2, number>) => of[0] + of[1] + of[2];
const jobsOf = ({ waiting, running }: QueueLoad) => sum(waiting) + sum(running);
const only = (priority: 0 | 1 | 2, jobs: number) => ({ 0: 0, 1: 0, 2: 0, [priority]: jobs });

const sizes = fc.integer({ min: 1, max: 64 });
const reported = (changes: Partial<ReportedNode>): ReportedNode => ({
  ...REPORT,
  id: 'node',
  instance: 'one',
  labels: {},
  overloaded: [],
  waits_for: [],
  seen_at: new Date(0),
  ...changes,
});
const fleets = fc.array(
  sizes.chain((slots) => fc.record({ slots: fc.constant(slots), busy: fc.integer({ min: 0, max: slots }) })),
  { minLength: 1, maxLength: 20 },
);
const reading = (nodes: Partial<ReportedNode>[], lastSlots: number | null = null) => ({
  nodes: nodes.map(reported),
  marks: NO_MARKS,
  lastSlots,
});

describe('the number of nodes that the work needs', () => {
  const with_ = (changes: Partial<QueueLoad>) => desiredNodes({ ...NO_LOAD, ...changes }, 4);

  it('gives every leased job a slot, and lets waiting jobs wait as long as their class may', () => {
    assert.equal(with_({}), 0);
    assert.equal(with_({ running: only(0, 9) }), 3);
    assert.equal(with_({ waiting: { 0: 1, 1: 0, 2: 0 } }), 1);
    // A slot does 1.5 jobs of 10 s within 15 s, 6 within 60 s, 30 within 300 s.
    assert.equal(with_({ waiting: { 0: 120, 1: 0, 2: 0 } }), 20);
    assert.equal(with_({ waiting: { 0: 0, 1: 120, 2: 0 } }), 5);
    assert.equal(with_({ waiting: { 0: 0, 1: 0, 2: 120 } }), 1);
    assert.equal(with_({ waiting: { 0: 0, 1: 120, 2: 0 }, capped: only(1, 60) }), 3, 'jobs beyond a cap need none');
  });

  it('counts the interactive jobs of one organization whole, however many bulk jobs another one has beyond its cap', () => {
    const waiting = { 0: 100, 1: 0, 2: 0 };
    const alone = with_({ waiting });
    assert.equal(alone, 17);
    assert.equal(with_({ waiting: { ...waiting, 1: 10_000 }, capped: only(1, 10_000) }), alone);
  });

  it('does not let an interactive job wait for long ones, nor gives a job more than one slot', () => {
    const long = { 0: 10, 1: 10, 2: 300 };
    assert.equal(with_({ running: only(2, 8), seconds: long }), 2);
    assert.equal(with_({ running: only(2, 8), waiting: only(0, 4), seconds: long }), 3);
    assert.equal(with_({ waiting: { 0: 4, 1: 0, 2: 0 }, seconds: { ...long, 0: 3_000 } }), 1);
  });

  it('is between a slot for the leased jobs and a slot for all, and none only without work', () => {
    fc.assert(
      fc.property(loads, sizes, (load, slots) => {
        const nodes = desiredNodes(load, slots);
        assert.ok(nodes >= Math.ceil(sum(load.running) / slots));
        assert.ok(nodes <= Math.ceil(jobsOf(load) / slots));
        assert.equal(nodes === 0, jobsOf(load) === 0);
      }),
    );
  });

  it('does not decrease when more work waits or runs, and hardly changes with one job', () => {
    fc.assert(
      fc.property(
        loads,
        sizes,
        fc.constantFrom('waiting', 'running'),
        fc.constantFrom(0, 1, 2),
        (load, slots, where, priority) => {
          const more = structuredClone(load);
          more[where as 'running'][priority as 0] += 1;
          const [before, after] = [desiredNodes(load, slots), desiredNodes(more, slots)];
          assert.ok(after === before || after === before + 1, `${before} -> ${after}`);
        },
      ),
    );
  });

  it('does not rise while a backlog is worked off, and works it off within twice the time of its class', () => {
    fc.assert(
      fc.property(
        counts,
        fc.constantFrom(0 as const, 1, 2),
        fc.integer({ min: 1, max: 100 }),
        (jobs, priority, took) => {
          const each = { 0: took, 1: took, 2: took };
          const waiting = only(priority, jobs);
          const first = desiredNodes({ ...NO_LOAD, waiting, seconds: each }, 4);
          for (let round = 1; waiting[priority] > 0; round += 1) {
            const leased = Math.min(first * 4, waiting[priority]);
            waiting[priority] -= leased;
            assert.ok(
              desiredNodes({ ...NO_LOAD, waiting, running: only(priority, leased), seconds: each }, 4) <= first,
            );
            assert.ok((round - 1) * took <= 2 * WAIT_TARGET_SECONDS[priority]);
          }
        },
      ),
    );
  });

  it('does not jump when nodes are overloaded: at most to twice, and without waiting jobs not above the nodes there', () => {
    fc.assert(
      fc.property(fleets, loads, (nodes, load) => {
        const overloaded = nodes.map((node) => ({ ...node, overloaded: ['cpu'] as ['cpu'] }));
        const [calm, full] = [slotsPerNode(reading(nodes)), slotsPerNode(reading(overloaded))];
        assert.ok(desiredNodes(load, full) <= 2 * desiredNodes(load, calm));
        const busy = nodes.reduce((total, node) => total + node.busy, 0);
        assert.ok(desiredNodes({ ...NO_LOAD, running: only(1, busy) }, full) <= nodes.length);
      }),
    );
  });

  it('follows the size of the nodes that an autoscaler starts, whatever enrolled ones report', () => {
    const enrolled = (slots: number) => ({ id: 'theirs', slots, is_enrolled: true });
    assert.equal(slotsPerNode(reading([{ slots: 4 }, enrolled(256), enrolled(256)], 4)), 4);
    assert.equal(slotsPerNode(reading([enrolled(256)], 4)), 4);
    assert.equal(slotsPerNode(reading([enrolled(8), enrolled(16)])), 12, 'where there are no others');
    const processes = Array.from({ length: 16 }, (_, at) => ({ ...enrolled(256), instance: `${at}` }));
    const others = [
      { id: 'ours', instance: 'one' },
      { id: 'ours', instance: 'two' },
    ];
    assert.equal(
      joinReports(new Map(), reading([...processes, ...others], 4), 0).others,
      3,
      'an enrolled one counts once',
    );
  });

  it('does not change when the last node is gone', () => {
    fc.assert(
      fc.property(sizes, loads, (slots, load) => {
        const there = desiredNodes(load, slotsPerNode(reading([{ slots }, { slots }])));
        assert.equal(desiredNodes(load, slotsPerNode(reading([], slots))), there);
      }),
    );
    assert.equal(slotsPerNode(reading([])), 4, 'nor needs any node to have been there');
  });
});
