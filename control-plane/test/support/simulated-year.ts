import { desiredNodes, WAIT_TARGET_SECONDS } from '../../src/crawling/fleet/desired-nodes.ts';
import {
  decideScaling,
  newMemory,
  type ScaledNode,
  type ScaledNodeState,
  type ScalingLimits,
} from '../../src/crawling/scaler/decide-scaling.ts';

/**
 * A year of a farm under the scaler, on a virtual clock: waves of days and weeks, bursts, outages of hosts, new images
 * and a bad one.
 */

const [MINUTE, HOUR, DAY] = [60_000, 3_600_000, 86_400_000];
const [SLOTS, JOB_SECONDS, START_MS, DRAIN_MS] = [4, 12, 45_000, 30_000];
const HOSTS = ['host-1', 'host-2', 'host-3'];
const HOST_MAX = 8;
/** Hosts that are away, from and until. */
const OUTAGES: readonly (readonly [host: string, from: number, until: number])[] = [
  ['host-2', 60.4 * DAY, 60.4 * DAY + 2 * HOUR],
  ['host-1', 150.6 * DAY, 150.6 * DAY + 20 * MINUTE],
];
/** Images by the day from which they are wanted; nodes with a bad one end by themselves soon after their start. */
const IMAGES: readonly (readonly [from: number, image: string])[] = [
  [0, 'one'],
  [30.5 * DAY, 'two'],
  [100.45 * DAY, 'bad'],
  [100.95 * DAY, 'three'],
  [250.5 * DAY, 'four'],
];
const BAD_LIVES_MS = 20_000;

export type YearOptions = { days: number; tickMs: number; limits: ScalingLimits; seed: number };

/**
 * The state after a tick. `need` is what the work needs, `nodes` those that work or start, `oldest` the seconds that
 * the oldest job of a class has waited.
 */
export type Tick = {
  at: number;
  need: number;
  nodes: number;
  draining: number;
  oldest: { bulk: number; campaign: number };
  image: string;
  outdated: number;
  isAway: boolean;
};
/** A node that was drained because it was not needed, or was replaced; `livedMs`: since its start. */
export type Drained = { at: number; livedMs: number; isReplaced: boolean };

type Container = { name: string; host: string; image: string; since: number; drainedAt: number | null; diesAt: number };
type Chunk = { at: number; jobs: number };

/** Simulates it; `seen` is called after each tick. Returns how many nodes were started, and those that were drained. */
export function simulateYear({ days, tickMs, limits, seed }: YearOptions, seen: (tick: Tick) => void) {
  const random = mulberry32(seed);
  const bulk: Chunk[] = [];
  const campaign: Chunk[] = [];
  let containers: Container[] = [];
  let [memory, started] = [newMemory(0), 0];
  const drained: Drained[] = [];

  for (let now = tickMs; now <= days * DAY; now += tickMs) {
    arrive(now, tickMs, random, bulk, campaign);
    const image = IMAGES.findLast(([from]) => now >= from)![1];
    const away = new Set(OUTAGES.filter(([, from, until]) => now >= from && now < until).map(([host]) => host));
    // A host that comes back has the containers that it had, ended.
    for (const one of containers) if (away.has(one.host)) one.diesAt = Math.min(one.diesAt, now);
    const there = containers.filter(({ host }) => !away.has(host));
    const stateOf = (one: Container): ScaledNodeState => {
      if (one.drainedAt !== null) return now >= Math.min(one.diesAt, one.drainedAt + DRAIN_MS) ? 'ended' : 'draining';
      if (now >= one.diesAt) return 'dead';
      return now >= one.since + START_MS ? 'working' : 'starting';
    };
    const nodes: ScaledNode[] = there.map((one) => ({
      ...{ name: one.name, host: one.host, image: one.image, since: one.since, busy: 0 },
      ...{ state: stateOf(one), isToDrain: one.drainedAt !== null },
    }));
    const working = nodes.filter(({ state }) => state === 'working').length;

    const running = work(working * SLOTS, tickMs, [bulk, campaign]);
    const desired = desiredNodes(
      {
        waiting: { 0: 0, 1: jobsIn(bulk), 2: jobsIn(campaign) },
        running: { 0: 0, 1: running[0]!, 2: running[1]! },
        capped: { 0: 0, 1: 0, 2: 0 },
        seconds: { 0: JOB_SECONDS, 1: JOB_SECONDS, 2: JOB_SECONDS },
      },
      SLOTS,
    );
    const hosts = HOSTS.map((name) => ({
      ...{ name, isReachable: !away.has(name), image: away.has(name) ? null : image, min: 0, max: HOST_MAX },
    }));
    const decision = decideScaling({ now, desired, others: 0, hosts, nodes }, memory, limits);
    memory = decision.memory;
    for (const action of decision.actions)
      if (action.do === 'start') {
        started += 1;
        const diesAt = now + (action.image === 'bad' ? BAD_LIVES_MS : lifetime(random));
        containers.push({
          name: `node-${started}`,
          host: action.host,
          image: action.image,
          since: now,
          drainedAt: null,
          diesAt,
        });
      } else if (action.do === 'remove') containers = containers.filter(({ name }) => name !== action.node);
      else if (action.do === 'drain') {
        const one = containers.find(({ name }) => name === action.node)!;
        one.drainedAt = now;
        drained.push({ at: now, livedMs: now - one.since, isReplaced: one.image !== image });
      }
    seen({
      ...{ at: now, need: desired, image, isAway: away.size > 0 },
      nodes: working + nodes.filter(({ state }) => state === 'starting').length,
      draining: nodes.filter(({ state }) => state === 'draining').length,
      oldest: { bulk: ageOf(bulk, now), campaign: ageOf(campaign, now) },
      outdated: nodes.filter((node) => node.state === 'working' && node.image !== image).length,
    });
  }
  return { started, drained };
}

/** The seconds that jobs may wait by the signal, and those that a step and the start of a node add. */
export const waitBounds = (tickMs: number) => {
  const late = (START_MS + 3 * tickMs) / 1000;
  return { bulk: WAIT_TARGET_SECONDS[1] + late, campaign: WAIT_TARGET_SECONDS[2] + late };
};

/** Whether a host is away at `at`, or was until `margin` ms before. */
export const isNearOutage = (at: number, margin: number): boolean =>
  OUTAGES.some(([, from, until]) => at >= from && at < until + margin);

/** A wave over each day, lower at weekends; a campaign about twice a day. */
function arrive(now: number, tickMs: number, random: () => number, bulk: Chunk[], campaign: Chunk[]): void {
  const isWeekend = Math.floor(now / DAY) % 7 >= 5;
  const wave = (1 - Math.cos((2 * Math.PI * (now % DAY)) / DAY)) / 2;
  const busySlots = (2 + 24 * wave) * (isWeekend ? 0.5 : 1);
  const expected = (busySlots / JOB_SECONDS) * (tickMs / 1000);
  const jobs = Math.max(0, Math.round(expected + Math.sqrt(expected) * normal(random)));
  if (jobs > 0) bulk.push({ at: now, jobs });
  if (random() < (2 * tickMs) / DAY) campaign.push({ at: now, jobs: 200 + Math.floor(1000 * random()) });
}

/** Works off what waits, the first queue first; returns how many slots each had in use. */
function work(slots: number, tickMs: number, queues: Chunk[][]): number[] {
  const jobsPerSlot = tickMs / 1000 / JOB_SECONDS;
  let left = slots * jobsPerSlot;
  return queues.map((queue) => {
    const before = left;
    while (left > 0 && queue.length > 0) {
      const taken = Math.min(left, queue[0]!.jobs);
      queue[0]!.jobs -= taken;
      left -= taken;
      if (queue[0]!.jobs < 1e-9) queue.shift();
    }
    return (before - left) / jobsPerSlot;
  });
}

const jobsIn = (queue: Chunk[]): number => queue.reduce((sum, { jobs }) => sum + jobs, 0);
const ageOf = (queue: Chunk[], now: number): number => (queue.length === 0 ? 0 : (now - queue[0]!.at) / 1000);
/** A node ends by itself about once in two hundred days. */
const lifetime = (random: () => number): number => -Math.log(1 - random()) * 200 * DAY;

function mulberry32(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

const normal = (random: () => number): number =>
  Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
