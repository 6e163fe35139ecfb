import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLogger } from '@adsweep/shared/service/logger.ts';
import { Registry } from 'prom-client';
import { ClaimGate } from '../src/lease/claim-gate.ts';
import { cgroupLimits, usedCpuMicros, usedMemory } from '../src/machine/cgroup.ts';
import { defaultSlots, nextSlots, usableMachine } from '../src/machine/default-slots.ts';
import { ResourceMeter } from '../src/machine/resource-usage.ts';
import { createMetrics } from '../src/metrics.ts';
import { LoadWatch, overloadOf } from '../src/node/watch-load.ts';

const GIB = 1024 ** 3;
type Files = Record<string, string>;
const reading = (files: Files) => (path: string) => files[path] ?? null;
const limitsIn = (files: Files) => {
  const { memory, cpu } = cgroupLimits(reading(files));
  return [memory?.limit ?? null, cpu?.limit ?? null];
};

/** The files for Docker's `--memory 2g --cpus 1.5` with cgroup version 2: the container sees its own group as the root. */
const V2: Files = {
  '/proc/self/cgroup': '0::/\n',
  '/sys/fs/cgroup/memory.max': `${2 * GIB}\n`,
  '/sys/fs/cgroup/memory.current': `${1.5 * GIB}\n`,
  '/sys/fs/cgroup/memory.stat': `anon 100\ninactive_file ${GIB / 2}\n`,
  '/sys/fs/cgroup/cpu.max': '150000 100000\n',
  '/sys/fs/cgroup/cpu.stat': 'usage_usec 3000000\nuser_usec 1\n',
};
/** The same with version 1, where the path is that of the host and not mounted. */
const V1: Files = {
  '/proc/self/cgroup': '4:memory:/docker/abc\n2:cpu,cpuacct:/docker/abc\n0::/docker/abc\n',
  '/sys/fs/cgroup/memory/memory.limit_in_bytes': `${2 * GIB}\n`,
  '/sys/fs/cgroup/memory/memory.usage_in_bytes': `${1.5 * GIB}\n`,
  '/sys/fs/cgroup/memory/memory.stat': `total_inactive_file ${GIB / 2}\n`,
  '/sys/fs/cgroup/cpu/cpu.cfs_quota_us': '150000\n',
  '/sys/fs/cgroup/cpu/cpu.cfs_period_us': '100000\n',
  '/sys/fs/cgroup/cpuacct/cpuacct.usage': '3000000000\n',
};

for (const [version, files] of [
  [1, V1],
  [2, V2],
] as const)
  test(`limits and usage of a control group of version ${version} are read`, () => {
    assert.deepEqual(limitsIn(files), [2 * GIB, 1.5]);
    const { memory, cpu } = cgroupLimits(reading(files));
    assert.ok(memory && cpu);
    assert.equal(usedMemory(reading(files), memory), GIB, 'files that can be dropped at once do not count');
    assert.equal(usedCpuMicros(reading(files), cpu), 3_000_000);
  });

test('the lowest limit of all parent control groups applies', () => {
  const files: Files = {
    '/proc/self/cgroup': '0::/farm.slice/node.service\n',
    '/sys/fs/cgroup/farm.slice/memory.max': `${GIB}\n`,
    '/sys/fs/cgroup/farm.slice/node.service/memory.max': 'max\n',
    '/sys/fs/cgroup/farm.slice/cpu.max': '400000 100000\n',
    '/sys/fs/cgroup/farm.slice/node.service/cpu.max': '200000 100000\n',
  };
  assert.deepEqual(limitsIn(files), [GIB, 2]);
});

test('every notation for an unlimited control group means no limit', () => {
  assert.deepEqual(limitsIn({}), [null, null]);
  const none = { ...V2, '/sys/fs/cgroup/memory.max': 'max\n', '/sys/fs/cgroup/cpu.max': 'max 100000\n' };
  assert.deepEqual(limitsIn(none), [null, null]);
  const old: Files = {
    ...V1,
    '/sys/fs/cgroup/memory/memory.limit_in_bytes': '9223372036854771712\n',
    '/sys/fs/cgroup/cpu/cpu.cfs_quota_us': '-1\n',
  };
  assert.deepEqual(limitsIn(old), [null, null]);
});

test('the default number of slots follows control group limits below the size of the machine', () => {
  const machine = { cores: 16, memoryBytes: 64 * GIB };
  const slots = (files: Files) => defaultSlots(usableMachine(cgroupLimits(reading(files)), machine));
  const oneAndAHalfCores = { least: 7, most: 15 };
  assert.deepEqual(slots({}), { least: 80, most: 160 });
  assert.deepEqual(slots(V2), { least: 6, most: 6 }, 'as many as the memory allows');
  assert.deepEqual(slots({ ...V2, '/sys/fs/cgroup/memory.max': 'max' }), oneAndAHalfCores);
  const aboveTheMachine = { ...V2, '/sys/fs/cgroup/memory.max': `${128 * GIB}` };
  assert.deepEqual(slots(aboveTheMachine), oneAndAHalfCores, 'a limit above the machine is none');
});

test('a node takes on more while all slots are taken and CPU and memory allow it, and less while they do not', () => {
  const bounds = { least: 10, most: 20 };
  const next = (slots: number, busy: number, cpu: number | null, memory: number | null = 0.5) =>
    nextSlots(slots, busy, { cpu, memory }, bounds);
  assert.equal(next(12, 12, 0.7), 13);
  assert.equal(next(12, 11, 0.7), 12, 'a slot is free');
  assert.equal(next(12, 12, 0.95), 12, 'the CPU is in use');
  assert.equal(next(12, 12, 0.99), 11, 'captures slow each other down');
  assert.equal(next(12, 12, 0.7, 0.85), 12);
  assert.equal(next(12, 12, 0.7, 0.95), 11);
  assert.equal(next(12, 12, 0.7, null), 13);
  assert.equal(next(12, 12, null), 12, 'its usage is not known');
  assert.deepEqual([next(20, 20, 0.1), next(10, 10, 1)], [20, 10]);
  assert.deepEqual(
    [0.1, 1].map((cpu) => nextSlots(3, 3, { cpu, memory: 0.5 }, { least: 3, most: 3 })),
    [3, 3],
    'a configured number is fixed',
  );
});

test('usage is measured against control group limits, or against the machine without them', () => {
  const files: Files = {
    ...V2,
    '/proc/meminfo': 'MemTotal:  100 kB\nMemFree: 1 kB\nMemAvailable:   75 kB\n',
    '/proc/stat': 'cpu  10 0 10 70 10 0 0 0 0 0\ncpu0 1 1\n',
  };
  let now = 0;
  const limited = new ResourceMeter(reading(files), () => now);
  assert.deepEqual(limited.measure(), { memory: 0.5, cpu: null }, 'the CPU is measured over time');
  now = 4_000;
  files['/sys/fs/cgroup/cpu.stat'] = 'usage_usec 6000000\n';
  assert.equal(limited.measure().cpu, 0.5, '3 s of the 6 s that 1.5 cores have');
  files['/proc/meminfo'] = 'MemTotal: 100 kB\nMemAvailable: 10 kB\n';
  assert.equal(limited.measure().memory, 0.9, 'the machine is fuller than the group');

  const { '/proc/meminfo': meminfo, '/proc/stat': stat } = files;
  const alone: Files = { '/proc/meminfo': meminfo!, '/proc/stat': stat! };
  const unlimited = new ResourceMeter(reading(alone), () => now);
  unlimited.measure();
  alone['/proc/stat'] = 'cpu  30 0 20 110 30 0 0 10 0 0\n';
  assert.deepEqual(unlimited.measure(), { memory: 0.9, cpu: 0.4 });
  assert.deepEqual(new ResourceMeter(reading({}), () => now).measure(), { memory: null, cpu: null });
});

test('the machine is full above the threshold, until usage is five points below it', () => {
  const thresholds = { memory: 0.9, cpu: 0.8 };
  const over = (memory: number | null, cpu: number | null, before: ('memory' | 'cpu')[] = []) =>
    overloadOf({ memory, cpu }, thresholds, before);
  assert.deepEqual(over(0.9, 0.8), []);
  assert.deepEqual(over(0.91, 0.81), ['memory', 'cpu']);
  assert.deepEqual(over(0.86, 0.7, ['memory', 'cpu']), ['memory']);
  assert.deepEqual(over(0.84, 0.7, ['memory']), []);
  assert.deepEqual(over(null, null, ['memory']), []);
  assert.deepEqual(overloadOf({ memory: 1, cpu: 1.1 }, { memory: 1, cpu: 1 }, []), [], '100 per cent is no limit');
});

test('a node on a full machine acquires no work, logs that once, and acquires again when there is room', async () => {
  const logged: string[] = [];
  const logger = createLogger('test', 'silent');
  for (const level of ['warn', 'info'] as const)
    logger[level] = (_: object, text?: string) => void logged.push(`${level} ${text}`);
  const metrics = createMetrics(new Registry());
  const gate = new ClaimGate();
  const usage = { memory: 0.5, cpu: 0.5 };
  const load = new LoadWatch({ measure: () => usage, thresholds: { memory: 0.9, cpu: 0.9 }, gate, metrics, logger });
  const poll = gate.signal;
  load.update();
  assert.equal(poll.aborted, false);

  usage.memory = 0.95;
  load.update();
  load.update();
  assert.equal(poll.aborted, true, 'the request under way ends');
  assert.deepEqual([load.overloaded, gate.isHeldBy('memory'), gate.isHeldBy('drain')], [['memory'], true, false]);
  assert.match(await metrics.registry.metrics(), /adsweep_node_overloaded\{resource="memory"\} 1/);
  let asked = false;
  const asking = gate.untilOpen().then(() => {
    asked = true;
  });

  gate.hold('drain');
  usage.memory = 0.5;
  load.update();
  await Promise.resolve();
  assert.deepEqual([load.overloaded, asked], [[], false], 'a drain still holds the node');
  gate.release('drain');
  await asking;
  assert.equal(gate.signal.aborted, false);
  assert.match(await metrics.registry.metrics(), /adsweep_node_overloaded\{resource="memory"\} 0/);
  assert.deepEqual(logged, ['warn the node takes no more work: too much is in use', 'info the node takes work again']);
});
