import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readlinkSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { until } from '../../shared/test/support/until.ts';
import { ProcFiles } from '../src/browser/proc-files.ts';
import { readProc, threadsOf } from '../src/browser/processes.ts';
import { busiest, nextBrake, ownCpuShare, RELEASED } from '../src/browser/renderer-brake.ts';
import { CROWD, competing, RendererCrowd } from '../src/browser/renderer-crowd.ts';
import { chargeGrowth, excessive } from '../src/browser/renderer-memory.ts';
import { priorityOf, RendererWatch } from '../src/browser/renderer-watch.ts';
import { busyWorkers } from '../src/browser/worker-threads.ts';

const MIB = 1024 * 1024;
const renderers = (...held: [own: number, charged?: number][]) =>
  new Map(
    held.map(([own, charged = 0], index) => [
      index + 1,
      { bytes: (own + 60) * MIB, own: own * MIB, charged: charged * MIB },
    ]),
  );

test('the growth of the browser is charged to the renderers that are busy, and never more than it holds', () => {
  const [busy, idle] = [{ charged: 0 }, { charged: 0 }];
  const charge = (before: number, bytes: number) =>
    chargeGrowth(
      [busy, idle],
      new Map([
        [busy, 3],
        [idle, 1],
      ]),
      { before: before * MIB, bytes: bytes * MIB, free: 512 * MIB },
    );
  charge(400, 500);
  assert.deepEqual([busy.charged, idle.charged], [0, 0]);
  charge(500, 612);
  assert.deepEqual([busy.charged / MIB, idle.charged / MIB], [75, 25]);
  for (let time = 0; time < 100; time += 1) {
    charge(612, 562);
    charge(562, 612);
  }
  assert.ok(Math.abs((busy.charged + idle.charged) / MIB - 100) < 1e-6);
  charge(612, 512);
  assert.deepEqual([busy.charged, idle.charged], [0, 0]);
});

test('a renderer that holds too much memory ends, with the part of the browser that it caused', () => {
  assert.deepEqual(excessive(renderers([100], [990], [200]), 1_000 * MIB, 8), [2]);
  assert.deepEqual(excessive(renderers([100, 900], [300]), 1_000 * MIB, 8), [1]);
  assert.deepEqual(excessive(renderers([900], [300]), 1_000 * MIB, 8), []);
});

test('of frames that hold too much memory together, those that hold more than a capture should end first, the largest first', () => {
  const frames = renderers([50], [600], [500], [550], [40]);
  assert.deepEqual(excessive(frames, 1_000 * MIB, 1, 256 * MIB), [2, 4]);
  assert.deepEqual(excessive(frames, 1_000 * MIB, 4, 256 * MIB), []);
});

test('of many small frames that hold too much memory together, the newest end, not the larger ones of other captures', () => {
  const [own, other] = [Array.from({ length: 60 }, (): [number] => [30]), [120] as [number]];
  const ended = excessive(renderers(other, ...own, other), 1_000 * MIB, 2, 256 * MIB);
  assert.deepEqual(ended, [62, ...Array.from({ length: 23 }, (_, index) => 61 - index)]);
  assert.deepEqual(excessive(renderers(other, [300], ...own), 1_000 * MIB, 2, 256 * MIB).slice(0, 2), [2, 62]);
});

test('while a context leaves, the renderers of all may hold more together, and each no more than before; beyond that the largest end', () => {
  const own = (count: number) => Array.from({ length: count }, (): [number] => [30]);
  assert.equal(excessive(renderers(...own(40)), 900 * MIB, 2, 256 * MIB).length, 2);
  assert.deepEqual(excessive(renderers(...own(40)), 900 * MIB, 2, 256 * MIB, true), []);
  assert.deepEqual(excessive(renderers([990], [30]), 1_000 * MIB, 2, 256 * MIB, true), [1]);
  assert.deepEqual(excessive(renderers([120], ...own(45), [110]), 900 * MIB, 2, 256 * MIB, true), [1, 47]);
});

test('a renderer gets a lower priority, the more CPU it has used', () => {
  assert.deepEqual(
    [0, 0.9, 1.9, 2, 4.5, 8, 500].map((seconds) => priorityOf(seconds)),
    [0, 0, 3, 6, 12, 19, 19],
  );
});

test('renderers compete if they use much of the CPU, as many as would be equally busy', () => {
  const cores = 2;
  const each = (count: number, seconds: number) => Array.from({ length: count }, () => seconds);
  assert.equal(Math.round(competing(each(24, 0.04), 0.5, cores)), 24);
  assert.equal(competing(each(24, 0.02), 0.5, cores), 0);
  assert.equal(competing(each(24, 0.04), 0.5, 8), 0);
  assert.equal(Math.round(competing([...each(20, 0.01), 0.4, 0.4], 0.5, cores)), 3);
  assert.equal(competing([], 0, cores), 0);
});

test('workers of a process that are busy count as a crowd, however little of a CPU each gets', async () => {
  const code = `
    const { writeFileSync } = require('node:fs');
    const { parentPort, workerData } = require('node:worker_threads');
    writeFileSync('/proc/thread-self/comm', workerData);
    parentPort.on('message', () => { for (;;); });
    parentPort.postMessage('ready');`;
  const names = [...Array.from({ length: 4 }, () => 'DedicatedWorker'), 'SharedWorker th', 'ThreadPoolForeg'];
  const workers = names.map((workerData) => new Worker(code, { eval: true, workerData }));
  try {
    await Promise.all(workers.map((worker) => once(worker, 'message')));
    await until('none of them is busy', () => busyWorkers([process.pid], 1).length === 0);
    for (const worker of workers.slice(2)) worker.postMessage('spin');
    await until('three of them are busy', () => busyWorkers([process.pid], 3).length === 3);
    assert.deepEqual(busyWorkers([process.pid], 4), []);
  } finally {
    for (const worker of workers) await worker.terminate();
  }
});

test('a crowd that lasts for a second has a cause, which has a quarter of the documents and workers, and no fewer than would be a crowd', () => {
  const samples = (...crowds: [renderers: number, workers: number][]) => {
    const crowd = new RendererCrowd(12);
    return crowds.map(([renderers, workers], at) => crowd.sizeOfCause(renderers, workers, at * 500));
  };
  const busy = [24, 0] as [number, number];
  assert.deepEqual(samples([0, 0], busy, busy, busy, busy), [0, 0, 12, 0, 12]);
  assert.deepEqual(samples([0, 0], busy, [4, 11], busy, busy), [0, 0, 0, 0, 12]);
  assert.deepEqual(samples([0, 0], [0, 0], [80, 0], [80, 0]), [0, 0, 0, 20]);
  assert.deepEqual(samples([0, 0], [1, 88], [1, 88], [1, 88]), [0, 0, 22, 0]);
});

test('the share of a thread is that on a CPU of its own, however long it waited for one', () => {
  const share = (ranMs: number, waitedMs: number) =>
    ownCpuShare({ ranMs: 5, waitedMs: 7 }, { ranMs: 5 + ranMs, waitedMs: 7 + waitedMs }, 100);
  assert.deepEqual([share(60, 0), share(30, 50), share(30, 70), share(30, 90), share(0, 100)], [0.6, 0.6, 1, 1, 0]);
});

test('the renderers with the most recent CPU time are braked, and none that has only begun', () => {
  const recent = (...seconds: number[]) => new Map(seconds.map((one, index) => [index + 1, one]));
  assert.deepEqual(busiest(recent(0.2, 1, 0.8, 0.6)), [2, 3]);
  assert.deepEqual(busiest(recent(0.3, ...Array<number>(40).fill(0.07))), []);
  assert.deepEqual(busiest(recent(0.09, 0.01)), []);
  assert.deepEqual(busiest(recent()), []);
});

test('the brake is on from the third congested tick, off for one tick in five, and off when the congestion ends', () => {
  let state = RELEASED;
  const isOn = [...'xx-xxxxxxxxxxxx--x'].map((tick) => {
    state = nextBrake(state, tick === 'x');
    return state.stoppedTicks > 0 ? 'x' : '-';
  });
  assert.equal(isOn.join(''), '-----xxxx-xxxx----');
});

test('a file of /proc that stays open shows the present state of its process, nothing once that has ended, and is closed when it is not kept', {
  skip: process.platform !== 'linux',
}, async (t) => {
  const files = new ProcFiles();
  const child = spawn('sleep', ['60']);
  t.after(() => child.kill());
  await once(child, 'spawn');
  const pid = child.pid as number;
  const openFiles = () => openFilesOf(pid);
  const stateOf = () => files.read(pid, 'stat').split(' ')[2];
  assert.match(files.read(pid, 'statm'), /^\d+ \d+ /);
  assert.notEqual(stateOf(), 'Z');
  assert.equal(openFiles(), 2);
  files.keep(new Set());
  assert.equal(openFiles(), 0);

  assert.notEqual(stateOf(), '');
  child.kill('SIGKILL');
  await once(child, 'exit');
  assert.equal(files.read(pid, 'stat'), '');
  assert.equal(openFiles(), 0);
});

test('a renderer that holds too much memory is ended, and no file of its process group stays open', {
  skip: process.platform !== 'linux',
}, async (t) => {
  const renderer = 'const held = Buffer.alloc(3e8, 1); setInterval(() => held.fill(2), 1_000)';
  // Its own command line must not look like a renderer's.
  const browser = `require('node:child_process').spawn(process.execPath, ['-e', ${JSON.stringify(renderer)}, '--', '--ty' + 'pe=renderer'])
    .once('spawn', function () { console.log(this.pid) }).once('exit', (_, signal) => console.log(signal)); setInterval(() => {}, 1_000)`;
  const child = spawn(process.execPath, ['-e', browser], { detached: true, stdio: ['ignore', 'pipe', 'inherit'] });
  const group = child.pid as number;
  t.after(() => process.kill(-group, 'SIGKILL'));
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const pid = Number((await lines.next()).value);
  const watch = new RendererWatch(group, 200 * MIB);
  watch.follow(1);
  assert.equal((await lines.next()).value, 'SIGKILL');
  assert.equal(watch.endedForMemory(), true);
  watch.follow(0);
  assert.deepEqual([group, pid].map(openFilesOf), [0, 0]);
});

test('workers that crowd the CPU go last, and the threads beside them do not', {
  skip: process.platform !== 'linux',
}, async (t) => {
  const spin = "require('node:fs').writeFileSync('/proc/thread-self/comm', 'DedicatedWorker'); for (;;);";
  const renderer = `for (let n = 0; n < ${CROWD + 4}; n++) new (require('node:worker_threads').Worker)(${JSON.stringify(spin)}, { eval: true })`;
  const browser = `require('node:child_process').spawn(process.execPath, ['-e', ${JSON.stringify(renderer)}, '--', '--ty' + 'pe=renderer'])
    .once('spawn', function () { console.log(this.pid) }); setInterval(() => {}, 1_000)`;
  const child = spawn(process.execPath, ['-e', browser], { detached: true, stdio: ['ignore', 'pipe', 'inherit'] });
  const group = child.pid as number;
  t.after(() => process.kill(-group, 'SIGKILL'));
  const pid = Number((await createInterface(child.stdout)[Symbol.asyncIterator]().next()).value);
  const watch = new RendererWatch(group, 2_000 * MIB);
  watch.follow(1);
  const priorityOfThread = (id: number) => Number(readProc(pid, `task/${id}/stat`).replace(/.*\) /, '').split(' ')[16]);
  const isWorker = (id: number) => readProc(pid, `task/${id}/comm`).startsWith('DedicatedWorker');
  await until('all workers go last', () => {
    const workers = threadsOf(pid).filter(isWorker).map(priorityOfThread);
    return workers.length === CROWD + 4 && workers.every((nice) => nice === 19);
  });
  assert.notEqual(priorityOfThread(pid), 19);
  watch.follow(0);
});

const openFilesOf = (pid: number): number =>
  readdirSync('/proc/self/fd').filter((fd) => linkOf(fd).startsWith(`/proc/${pid}/`)).length;

function linkOf(fd: string): string {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`);
  } catch {
    return '';
  }
}
