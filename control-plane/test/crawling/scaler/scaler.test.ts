import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, describe, it } from 'node:test';
import { createLogger } from '@adsweep/shared/service/logger.ts';
import { Registry } from 'prom-client';
import { until } from '../../../../shared/test/support/until.ts';
import {
  Scaler,
  type ScalerDependencies,
  type ScalerSettings,
  startScaler,
} from '../../../src/crawling/scaler/run-scaler.ts';
import { readScalerFile, type ScalerFile } from '../../../src/crawling/scaler/scaler-file.ts';
import { workMetrics } from '../../../src/metrics.ts';
import { exclusiveWork } from '../../../src/platform/exclusive-work.ts';
import { dockerDouble } from '../../support/docker-double.ts';
import { type RunningApi, runningApi } from '../../support/running-api.ts';
import { REPORT } from '../../support/simulated-node.ts';

const COOL_DOWN_MS = 600_000;
let api: RunningApi;
let key: string;
let docker: Awaited<ReturnType<typeof dockerDouble>>;
let now = Date.now();
before(async () => {
  api = await runningApi();
  key = await api.keyThatMay('fleet.read');
});
after(() => api.stop());
beforeEach(async () => {
  docker = await dockerDouble();
  now += 3_600_000;
  docker.now = () => now;
  await api.redis.client.flushall();
});

const fileOf = (changes: Partial<ScalerFile> = {}): ScalerFile => ({
  ...{ farm: 'farm', min: 0, max: 6, cool_down_seconds: COOL_DOWN_MS / 1000 },
  hosts: [{ name: 'a', docker: { socket: docker.socket }, min: 0, max: 6 }],
  container: { Image: 'adsweep/browser-node', Env: ['ADSWEEP_SLOTS=4'], HostConfig: { Memory: 1 } },
  ...changes,
});
function scaler(changes: Partial<ScalerSettings> = {}, others: Partial<ScalerDependencies> = {}): Scaler {
  const { dependencies, verbs, stores } = api.domains.crawling;
  const logger = createLogger('test', 'silent');
  const needs = { ...dependencies, ...verbs, decisions: stores.decisions, logger, ...others };
  return new Scaler(needs, { dryRun: false, file: fileOf(), ...changes });
}
const waiting = (count: number) =>
  api.domains.crawling.dependencies.queue.enqueueAll(
    Array.from({ length: count }, (_, at) => ({ jobId: `job-${at}`, organizationId: 'one', priority: 0, delayMs: 0 })),
  );
const nodesReport = async (changes: object = {}) => {
  for (const nodeId of docker.containers.keys())
    await api.domains.crawling.dependencies.nodes.report(
      { nodeId, instance: 'one' },
      { ...REPORT, slots: 4, ...changes },
    );
};
const latest = async () => (await api.get('/api/v1/fleet/decisions?limit=1', { key })).body.items[0];

describe('the scaler on a Docker engine', () => {
  it('reports no hosts and no target any more when another process scales', async (t) => {
    const registry = new Registry();
    const metrics = workMetrics(registry);
    metrics.scalerHosts.set({ state: 'unreachable' }, 1);
    metrics.scalerTarget.set(7);
    await exclusiveWork(api.redis.client, 'scaler', 60_000).run(async () => {});
    const { dependencies, verbs, stores } = api.domains.crawling;
    const needs = { ...dependencies, ...verbs, decisions: stores.decisions, redis: api.redis.client, metrics };
    const loop = startScaler({ ...needs, logger: createLogger('test', 'silent') }, { dryRun: true, file: fileOf() });
    t.after(() => Promise.all([loop.stop(), docker.close()]));
    await until('no hosts to be reported', async () => !(await registry.metrics()).includes('adsweep_scaler_hosts{'));
    assert.match(await registry.metrics(), /^adsweep_scaler_target_nodes 0$/m);
  });

  it('§4.6.4 starts nodes for the work, drains them when they were not needed for a while, and removes them when they have ended', async (t) => {
    t.after(() => docker.close());
    const running = scaler();
    // 12 jobs of 10 s within 15 s: 8 slots, 4 on a node.
    await waiting(12);
    await running.step(now);
    const names = [...docker.containers.keys()];
    assert.equal(names.length, 2);
    for (const [name, { isRunning, Env, Hostname, Image, HostConfig, Labels }] of docker.containers) {
      assert.match(name, /^farm-[0-9a-z]+-[0-9a-f]{6}$/);
      assert.deepEqual([isRunning, Hostname, Image], [true, name, 'sha256:one']);
      assert.deepEqual(Env, ['ADSWEEP_SLOTS=4', `ADSWEEP_NODE_ID=${name}`]);
      assert.deepEqual(HostConfig, { Memory: 1, RestartPolicy: { Name: 'no' } });
      assert.deepEqual(Labels, { 'adsweep.scaler': 'farm' });
    }
    const { desired_nodes, target_nodes, actions } = await latest();
    assert.deepEqual([desired_nodes, target_nodes, actions.length], [2, 2, 2]);
    assert.deepEqual(
      [actions[0].action, actions[0].host, actions[0].reason],
      ['start', 'a', '2 nodes are needed, 0 are there'],
    );

    await nodesReport();
    await running.step(now);
    assert.equal(docker.containers.size, 2, 'nodes that report are enough');

    await api.redis.client.flushall();
    now += COOL_DOWN_MS + 1;
    await nodesReport({ draining: false });
    await running.step(now);
    assert.deepEqual(
      (await latest()).actions.map(({ action }: { action: string }) => action),
      ['drain', 'drain'],
    );
    const drainingNow = await api.domains.crawling.dependencies.draining.names();
    assert.deepEqual(drainingNow.toSorted(), names.toSorted());
    assert.ok(
      [...docker.containers.values()].every(({ isRunning }) => isRunning),
      'a node that drains is left alone',
    );

    await nodesReport({ draining: true, busy: 1 });
    await running.step(now);
    assert.ok(
      [...docker.containers.values()].every(({ isRunning }) => isRunning),
      'also while it has work',
    );
    await nodesReport({ draining: true });
    await running.step(now);
    assert.ok(
      [...docker.containers.values()].every(({ isRunning }) => !isRunning),
      'it is stopped when it has none',
    );
    await running.step(now);
    assert.equal(docker.containers.size, 0);
    assert.deepEqual(await api.domains.crawling.dependencies.draining.names(), [], 'its name is not drained any more');
  });

  it('replaces a node whose container has ended, by one with another name', async (t) => {
    t.after(() => docker.close());
    const running = scaler();
    await waiting(1);
    await running.step(now);
    const [first] = docker.containers.values();
    first!.isRunning = false;
    await running.step(now);
    assert.equal(docker.containers.size, 0);
    now += 31_000;
    await running.step(now);
    const [second] = docker.containers.keys();
    assert.ok(second && second !== first!.name);
  });

  it('does not take the last report of a node that it has removed for another node', async (t) => {
    t.after(() => docker.close());
    const running = scaler();
    await waiting(12);
    await running.step(now);
    await nodesReport();
    const [ended] = docker.containers.values();
    ended!.isRunning = false;
    await running.step(now);
    const reported = await api.domains.crawling.dependencies.nodes.list();
    assert.deepEqual(
      reported.map(({ id }) => id),
      [...docker.containers.keys()],
    );
    now += 31_000;
    await running.step(now);
    assert.equal(docker.containers.size, 2);
    assert.deepEqual((await latest()).nodes, { working: 1 });
  });

  it('leaves the container of a blocked node alone, whether or not it still runs', async (t) => {
    t.after(() => docker.close());
    const running = scaler();
    await waiting(12);
    await running.step(now);
    const [blocked] = docker.containers.values();
    await api.domains.crawling.verbs.blockNode(blocked!.name);
    now += 300_000;
    for (let step = 0; step < 10; step += 1, now += 15_000) {
      await nodesReport();
      await api.domains.crawling.dependencies.nodes.forget(blocked!.name);
      blocked!.isRunning = step < 5;
      await running.step(now);
      assert.ok(docker.containers.has(blocked!.name));
    }
    assert.equal(docker.containers.size, 3, 'another one takes its place');
    await api.domains.crawling.verbs.unblockNode(blocked!.name);
    await running.step(now);
    assert.ok(!docker.containers.has(blocked!.name));
  });

  it('removes no silent node soon after a step that failed, because reports may have been missing since', async (t) => {
    t.after(() => docker.close());
    const { fleet } = api.domains.crawling.dependencies;
    let isAway = false;
    const read = async () => (isAway ? Promise.reject(new Error('Redis is away')) : fleet.read());
    const running = scaler({}, { fleet: { read } });
    await waiting(12);
    await running.step(now);
    const [silent] = docker.containers.keys();
    now += 300_000;
    const step = async (afterMs: number) => {
      now += afterMs;
      await nodesReport();
      await api.domains.crawling.dependencies.nodes.forget(silent!);
      await running.step(now);
      return docker.containers.has(silent!);
    };
    assert.equal(await step(0), true);
    isAway = true;
    await assert.rejects(step(15_000));
    isAway = false;
    assert.equal(await step(45_000), true);
    assert.equal(await step(59_000), true);
    assert.equal(await step(1_000), false);
  });

  it('starts nodes again when the clock is set back in the pause after a failure', async (t) => {
    t.after(() => docker.close());
    await waiting(1);
    const running = scaler();
    await running.step(now);
    docker.containers.get([...docker.containers.keys()][0]!)!.isRunning = false;
    now += 1_000;
    await running.step(now);
    assert.equal(docker.containers.size, 0);
    now += 1_000;
    await running.step(now);
    assert.match((await latest()).held.join(), /nodes fail/);
    await running.step(now - 3_600_000);
    assert.equal(docker.containers.size, 1);
  });

  it('only records what it would do in a dry run, once while it stays the same', async (t) => {
    t.after(() => docker.close());
    const running = scaler({ dryRun: true });
    await waiting(12);
    const total = async () => (await api.get('/api/v1/fleet/decisions', { key })).body.total;
    const before = await total();
    await running.step(now);
    await running.step(now);
    assert.equal(docker.containers.size, 0);
    assert.equal((await total()) - before, 1);
    assert.equal((await latest()).dry_run, true);
  });

  it('says what an engine refuses, that an image is missing, and works with the engines that answer', async (t) => {
    t.after(() => docker.close());
    await waiting(1);
    docker.refuses = 'no space left on device';
    const hosts = [
      { name: 'gone', docker: { socket: '/nowhere/docker.sock' }, min: 1, max: 6 },
      { name: 'a', docker: { socket: docker.socket }, min: 0, max: 6 },
    ];
    const running = scaler({ dryRun: false, file: fileOf({ hosts }) });
    await running.step(now);
    assert.match((await latest()).failed[0], /^start farm-.+no space left on device/);
    now += 1;
    docker.refuses = null;
    docker.image = null;
    await running.step(now);
    assert.match((await latest()).held.join(), /or the image is missing/);
    now += 1;
    docker.image = 'sha256:two';
    await running.step(now);
    assert.equal(docker.containers.size, 1);
  });
});

describe('a host whose certificates cannot be read any more', () => {
  it('does not answer, which the log says once with the reason, and the others are scaled', async (t) => {
    t.after(() => docker.close());
    const folder = mkdtempSync(join(tmpdir(), 'scaler-tls-'));
    t.after(() => rmSync(folder, { recursive: true }));
    const at = join(folder, 'ca.pem');
    const tls = { ca: at, certificate: at, key: at };
    const hosts = [
      { name: 'b', docker: { host: '127.0.0.1', port: 1, tls }, min: 0, max: 6 },
      { name: 'a', docker: { socket: docker.socket }, min: 1, max: 6 },
    ];
    const said: unknown[] = [];
    const logger = { warn: (about: { cause: Error }) => said.push(about.cause.message), info() {} } as never;
    const running = scaler({ file: fileOf({ hosts }) }, { logger });
    for (let step = 1; step <= 3; step += 1) await running.step(now + step);
    assert.equal(docker.containers.size, 1);
    assert.deepEqual(said, [`ENOENT: no such file or directory, open '${at}'`]);
  });
});

describe('the file of the scaler', () => {
  it('is read, and all its problems are named', (t) => {
    t.after(() => docker.close());
    const folder = mkdtempSync(join(tmpdir(), 'scaler-file-'));
    t.after(() => rmSync(folder, { recursive: true }));
    const path = join(folder, 'scaler.json');
    const read = (content: string) => {
      writeFileSync(path, content);
      return readScalerFile(path);
    };
    const file = fileOf();
    assert.deepEqual(read(JSON.stringify(file)), file);
    assert.throws(() => read('{'), /cannot be used/);
    assert.throws(
      () => read(`{ "Env": [T=secret] }`),
      ({ message }: Error) => message.includes('Unexpected token') && !message.includes('secret'),
    );
    assert.throws(() => read(JSON.stringify({ ...file, max: -1, more: 1 })), /max.*\n.*more|more.*\n.*max/);
    assert.throws(() => read(JSON.stringify({ ...file, min: 7 })), /min: it is greater than max/);
    assert.throws(() => read(JSON.stringify({ ...file, hosts: [file.hosts[0], file.hosts[0]] })), /same name/);
    const tls = { ca: path, certificate: join(folder, 'no.pem'), key: join(folder, 'no.key') };
    const secured = { name: 'b', docker: { host: '127.0.0.1', port: 2_376, tls }, min: 0, max: 1 };
    assert.throws(
      () => read(JSON.stringify({ ...file, min: 7, hosts: [...file.hosts, secured] })),
      /min: it is greater.*\n.*certificate of b: ENOENT.*\n.*key of b: ENOENT/,
    );
    assert.throws(() => readScalerFile(join(folder, 'none.json')), /ENOENT/);
  });
});
