import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  decideScaling,
  type FarmView,
  newMemory,
  type ScaledHost,
  type ScaledNode,
  type ScalingAction,
  type ScalingMemory,
} from '../../../src/crawling/scaler/decide-scaling.ts';

const COOL_DOWN_MS = 600_000;
const LIMITS = { min: 0, max: 20, coolDownMs: COOL_DOWN_MS };
/** Later than the cool-down after the start of the scaler. */
const NOW = 10 * COOL_DOWN_MS;

const host = (name: string, changes: Partial<ScaledHost> = {}): ScaledHost => ({
  ...{ name, isReachable: true, image: 'new', min: 0, max: 8 },
  ...changes,
});
const node = (name: string, changes: Partial<ScaledNode> = {}): ScaledNode => ({
  ...{ name, host: 'a', image: 'new', state: 'working', busy: 0, since: 0, isToDrain: false },
  ...changes,
});
const decide = (changes: Partial<FarmView>, memory: ScalingMemory = newMemory(0), limits = LIMITS) =>
  decideScaling({ now: NOW, desired: 0, others: 0, hosts: [host('a')], nodes: [], ...changes }, memory, limits);
const doneTo = (actions: ScalingAction[]) =>
  actions.map((action) => [action.do, action.do === 'start' ? action.host : action.node]);

describe('the scaler', () => {
  it('starts what is missing, on the hosts with the most room, and counts nodes that start already or are not its own', () => {
    const hosts = [host('a', { max: 4 }), host('b'), host('away', { isReachable: false, image: null })];
    const nodes = [node('one'), node('two', { state: 'starting' })];
    const { actions, target } = decide({ desired: 6, others: 1, hosts, nodes });
    assert.equal(target, 6);
    assert.deepEqual(doneTo(actions), [
      ['start', 'b'],
      ['start', 'b'],
      ['start', 'b'],
    ]);
    assert.equal(actions[0]?.reason, '6 nodes are needed, 3 are there');
  });

  it('keeps to its bounds, says what it cannot do, and starts ten at once at most', () => {
    const { actions, held } = decide({ desired: 7, hosts: [host('a', { max: 2 }), host('b', { max: 1 })] });
    assert.equal(actions.length, 3);
    assert.deepEqual(held, ['7 nodes are needed, 3 are there: no host has room']);
    assert.equal(decide({ desired: 99, hosts: [host('a', { max: 50 })] }).actions.length, 10);
    assert.equal(decide({ desired: 99 }, newMemory(0), { ...LIMITS, max: 5 }).actions.length, 5);
    assert.equal(decide({ hosts: [host('a', { min: 2 })] }).actions.length, 2);
    assert.equal(decide({}, newMemory(0), { ...LIMITS, min: 3 }).actions.length, 3);
  });

  it('drains what was not needed for the whole cool-down, the least busy first, and leaves a host its minimum', () => {
    const nodes = [node('one', { busy: 3 }), node('two', { busy: 1 }), node('three', { host: 'b' })];
    const hosts = [host('a'), host('b', { min: 1 })];
    const at = (ago: number) => ({ ...newMemory(0), needs: [{ at: NOW - ago, desired: 3 }] });
    assert.deepEqual(decide({ desired: 1, hosts, nodes }, at(COOL_DOWN_MS - 1)).actions, []);
    const { actions } = decide({ desired: 1, hosts, nodes }, at(COOL_DOWN_MS));
    assert.deepEqual(doneTo(actions), [
      ['drain', 'two'],
      ['drain', 'one'],
    ]);
    assert.deepEqual(decide({ nodes }, newMemory(NOW - 1)).actions, [], 'nor before it has watched for so long');
  });

  it('stops a node only after its drain, and removes its container when it has ended', () => {
    const nodes = [
      node('one', { state: 'draining', isToDrain: true }),
      node('two', { state: 'drained', isToDrain: true }),
      node('three', { state: 'ended', isToDrain: true }),
    ];
    const { actions, memory } = decide({ nodes });
    assert.deepEqual(doneTo(actions), [
      ['stop', 'two'],
      ['remove', 'three'],
    ]);
    assert.deepEqual(memory.failures, {});
  });

  it('replaces dead nodes, after longer and longer pauses where they fail again', () => {
    const dead = (now: number, memory: ScalingMemory) =>
      decide({ now, desired: 1, nodes: [node('x', { state: 'dead' })] }, memory);
    let { memory, actions } = dead(NOW, newMemory(0));
    assert.deepEqual(doneTo(actions), [['remove', 'x']]);
    assert.deepEqual(decide({ now: NOW + 29_000, desired: 1 }, memory).actions, []);
    assert.deepEqual(doneTo(decide({ now: NOW + 30_000, desired: 1 }, memory).actions), [['start', 'a']]);
    ({ memory } = dead(NOW + 40_000, memory));
    const { actions: early, held } = decide({ now: NOW + 90_000, desired: 1 }, memory);
    assert.deepEqual([early, held.length], [[], 1]);
    assert.equal(decide({ now: NOW + 100_000, desired: 1 }, memory).actions.length, 1);
    ({ memory } = decide({ now: NOW + 110_000, desired: 1, nodes: [node('y', { since: NOW + 100_000 })] }, memory));
    assert.deepEqual(memory.failures, {}, 'a younger one that works ends the row');
  });

  /**
   * A step after each 15 s; `statesAt`: what the nodes do then, by seconds. Returns what each step does, and the last
   * decision.
   */
  const watch = (seconds: number, statesAt: (at: number) => ScaledNode['state'][], changes: Partial<FarmView> = {}) => {
    let last = decide({ nodes: [] });
    const done: Record<number, string[][]> = {};
    for (let at = 0; at <= seconds; at += 15) {
      const nodes = statesAt(at).map((state, nth) => node(`${nth}`, { state, busy: 1 }));
      last = decide({ now: NOW + at * 1_000, desired: nodes.length, nodes, ...changes }, last.memory);
      if (last.actions.length > 0) done[at] = doneTo(last.actions);
    }
    return { done, ...last };
  };

  it('removes a node that is silent for a minute while others report, and replaces it', () => {
    const { done, memory } = watch(60, () => ['silent', 'working']);
    assert.deepEqual(done, { 60: [['remove', '0']] });
    assert.equal(memory.failures['a new']?.count, 1);
    const lasting = watch(75, (at) => ['silent', at === 45 ? 'working' : 'silent', 'working']);
    assert.deepEqual(
      Object.values(lasting.done).flat(),
      [
        ['remove', '0'],
        ['remove', '0'],
      ],
      'one reported in between',
    );
  });

  it('neither removes nor replaces nodes whose reports come back one by one after all were missing', () => {
    const silentUntil = (...ends: number[]) =>
      watch(300, (at) => ends.map((end) => (at < end ? 'silent' : 'working'))).done;
    assert.deepEqual(silentUntil(30, 45, 60), {});
    assert.deepEqual(silentUntil(45), {}, 'also in a farm of one node');
    const { done } = watch(105, (at) => [at < 60 ? 'silent' : 'working', 'silent'], { hosts: [host('a', { max: 2 })] });
    assert.deepEqual(done, {}, 'nor before others have reported for a minute');
  });

  it('does not remove nodes that are all silent for some minutes, since the node API is at fault then, but starts others where there is room', () => {
    const few = watch(585, () => ['silent', 'silent'], { hosts: [host('a', { max: 2 })] });
    assert.deepEqual([few.done, few.memory.failures], [{}, {}]);
    assert.match(few.held[0] ?? '', /all nodes are silent/);
    const one = watch(60, () => ['silent']);
    assert.deepEqual(one.done, { 60: [['start', 'a']] });
  });

  type Changes = { nodes?: ScaledNode[]; imageAt?: (minute: number) => string; max?: number };
  /**
   * A farm of one host that is to be full, for `minutes`, with a step after each 15 s that is carried out. `reports`:
   * whether a node reports at a minute; it is asked from a minute after its start. Returns the nodes at each step.
   */
  const live = (minutes: number, reports: (node: ScaledNode, minute: number) => boolean, changes: Changes = {}) => {
    const { nodes: first = [], imageAt = () => 'new', max = 2 } = changes;
    let [nodes, memory, count] = [first, newMemory(NOW), 0];
    const steps: ScaledNode[][] = [];
    for (let now = NOW; now <= NOW + minutes * 60_000; now += 15_000) {
      const minute = (now - NOW) / 60_000;
      const stateOf = (one: ScaledNode) => {
        if (now - one.since >= 60_000 && reports(one, minute)) return 'working';
        return now - one.since < 120_000 ? 'starting' : 'silent';
      };
      nodes = nodes.map((one) => ({ ...one, state: stateOf(one) }));
      steps.push(nodes);
      const decision = decide(
        { now, desired: max, hosts: [host('a', { max, image: imageAt(minute) })], nodes },
        memory,
      );
      memory = decision.memory;
      for (const action of decision.actions) {
        if (action.do === 'start') {
          count += 1;
          nodes = [...nodes, node(`new-${count}`, { image: action.image, since: now, state: 'starting' })];
        } else nodes = nodes.filter(({ name }) => name !== action.node);
      }
    }
    return steps;
  };
  const namesAt = (steps: ScaledNode[][], minute: number) => steps[minute * 4]?.map(({ name }) => name);

  it('replaces the only node, if it is silent for ten minutes and its host has no room for another one', () => {
    const steps = live(15, ({ name }) => name !== 'hung', { nodes: [node('hung')], max: 1 });
    assert.deepEqual([namesAt(steps, 10), namesAt(steps, 15)], [['hung'], ['new-1']]);
    assert.equal(steps.at(-1)?.[0]?.state, 'working');
  });

  it('tries an image that never reports again after longer and longer pauses, and a corrected one as soon as there is room', () => {
    const imageAt = (minute: number) => (minute < 120 ? 'bad' : 'good');
    const steps = live(150, ({ image }) => image === 'good', { imageAt });
    const triedBy = (minute: number) =>
      new Set(
        steps
          .slice(0, minute * 4)
          .flat()
          .map(({ name }) => name),
      ).size;
    assert.ok(triedBy(60) < 10, `${triedBy(60)} in an hour`);
    assert.ok(triedBy(120) - triedBy(60) <= 4, `${triedBy(120) - triedBy(60)} in the second hour`);
    assert.deepEqual(
      steps.at(-1)?.map(({ image, state }) => [image, state]),
      [
        ['good', 'working'],
        ['good', 'working'],
      ],
    );
  });

  it('keeps nearly all nodes of full hosts while the node API is away for hours', () => {
    const nodes = ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight'].map((name) => node(name));
    const steps = live(125, (_, minute) => minute >= 120, { nodes, max: 8 });
    assert.equal(Math.min(...steps.map(({ length }) => length)), 7);
    assert.ok(steps.at(-1)!.filter(({ state }) => state === 'working').length >= 7);
  });

  it('leaves a blocked node alone, which is no sign that the node API works', () => {
    const { done } = watch(600, () => ['blocked', 'silent'], { hosts: [host('a', { max: 2 })] });
    assert.deepEqual(done, { 600: [['remove', '1']] });
  });

  it('replaces nodes of another image one by one, the new one first where there is room', () => {
    const old = [node('one', { image: 'old' }), node('two', { image: 'old', busy: 2 })];
    const first = decide({ desired: 2, nodes: old });
    assert.deepEqual(doneTo(first.actions), [['start', 'a']]);
    const starting = node('three', { state: 'starting' });
    assert.deepEqual(decide({ desired: 2, nodes: [...old, starting] }).actions, []);
    assert.deepEqual(doneTo(decide({ desired: 2, nodes: [...old, node('three')] }).actions), [['drain', 'one']]);
    const full = decide({ desired: 2, hosts: [host('a', { max: 2 })], nodes: old });
    assert.deepEqual(doneTo(full.actions), [['drain', 'one']]);
  });

  it('goes on with the image that works while nodes with the wanted one fail', () => {
    const failures = { 'a new': { count: 3, at: NOW } };
    const memory = { ...newMemory(0), failures };
    const { actions, held } = decide({ desired: 2, nodes: [node('one', { image: 'old' })] }, memory);
    assert.deepEqual(
      actions.map((action) => action.do === 'start' && action.image),
      ['old'],
    );
    const calm = decide({ desired: 1, nodes: [node('one', { image: 'old' })] }, memory);
    assert.deepEqual([calm.actions, calm.held], [[], ['nodes with the new image fail on a: 3 in a row']]);
    assert.deepEqual(held, []);
  });
});
