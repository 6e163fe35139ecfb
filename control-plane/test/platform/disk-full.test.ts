import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { NodeApiError } from '@adsweep/shared/lease/client.ts';
import { createLogger } from '@adsweep/shared/service/logger.ts';
import { slow } from '../../../shared/test/support/slow.ts';
import { until } from '../../../shared/test/support/until.ts';
import { type ControlPlane, startControlPlane } from '../../src/compose/start-control-plane.ts';
import { readConfig } from '../../src/config.ts';
import { diskSpace, isDiskFull } from '../../src/platform/disk-space.ts';
import { startCatalogueServer } from '../support/catalogue-server.ts';
import { planeSettings } from '../support/plane-settings.ts';
import { type PrivateRedis, startRedis } from '../support/private-redis.ts';
import { PAGE } from '../support/running-api.ts';
import { captureOf, webp } from '../support/running-farm.ts';
import { type LeaseOfFirst, SimulatedNode } from '../support/simulated-node.ts';

const run = promisify(execFile);
const NODE_TOKEN = 'node-token-of-this-test';
const KEY = 'api-key-of-this-test';
const MEGABYTE = 1024 * 1024;

const folder = await mkdtemp(join(tmpdir(), 'adsweep-disk-'));
after(() => rm(folder, { recursive: true, force: true }));
const mounted = await run('mount', ['-t', 'tmpfs', '-o', 'size=24m', 'tmpfs', folder]).then(
  () => true,
  () => false,
);

describe('a full disk', { skip: !mounted && 'no small disk can be mounted here: that needs root' }, () => {
  let redis: PrivateRedis;
  let catalogue: Awaited<ReturnType<typeof startCatalogueServer>>;
  let plane: ControlPlane;
  let node: SimulatedNode;
  before(async () => {
    redis = await startRedis();
    catalogue = await startCatalogueServer(NODE_TOKEN);
    const settings = {
      ...planeSettings({
        ...{ folder: join(folder, 'data'), proxyUrl: catalogue.url, redisUrl: redis.url },
        ...{ nodeToken: NODE_TOKEN, apiKey: KEY },
      }),
      ADSWEEP_DISK_FLOOR_MB: '4',
    };
    plane = await startControlPlane(readConfig(settings), createLogger('test', 'silent'));
    node = new SimulatedNode(`http://127.0.0.1:${plane.ports.node_api}`, NODE_TOKEN);
    await until('readiness', async () => (await missing()).length === 0);
  });
  after(async () => {
    for (const [, stop] of plane.stops) await stop();
    catalogue.stop();
    await redis.stop();
    await run('umount', [folder]);
  });

  const call = async (method: string, path: string, body?: unknown) => {
    const answer = await fetch(`http://127.0.0.1:${plane.ports.http}${path}`, {
      method,
      headers: { authorization: `Bearer ${KEY}` },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: answer.status, body: await answer.json() };
  };
  const missing = async (): Promise<string[]> => (await call('GET', '/readyz')).body.missing;
  const create = () => call('POST', '/api/v1/scans', PAGE);
  const lease = () =>
    until('a lease', async () => (await node.acquire({ node_id: 'node', max: 1, wait_ms: 200 })).leases[0]);
  const upload = async (one: LeaseOfFirst) => node.upload(one, 'landing-0.webp', 'image/webp', await webp());
  const isFull = (error: unknown) =>
    error instanceof NodeApiError && error.status === 503 && error.code === 'storage.full';

  /** Takes what is free, but for `leave` bytes. */
  async function fill(leave: number): Promise<void> {
    const ballast = join(folder, 'ballast');
    await rm(ballast, { force: true });
    const { stdout } = await run('df', ['--output=avail', '-B1', folder]);
    await writeFile(ballast, Buffer.alloc(Number(stdout.trim().split('\n').at(-1)) - leave));
  }
  const makeRoom = () => rm(join(folder, 'ballast'));

  it(
    'with less free space than the floor stops leases and refuses uploads, is named by readyz, and work continues afterwards',
    slow,
    async () => {
      const { body: scan } = await create();
      const one = await lease();
      await fill(2 * MEGABYTE);
      await assert.rejects(upload(one), isFull);
      await assert.rejects(node.acquire({ node_id: 'node', max: 1, wait_ms: 0 }), isFull);
      assert.deepEqual(await missing(), ['disk']);
      await assert.rejects(diskSpace([tmpdir(), folder], 4 * MEGABYTE).requireFree(), isDiskFull);

      await makeRoom();
      assert.deepEqual(await missing(), []);
      await upload(one);
      await node.complete(one, captureOf(['https://shop.example/']));
      await until('the scan to be completed', async () => {
        return (await call('GET', `/api/v1/scans/${scan.id}`)).body.status === 'completed';
      });
    },
  );

  it('without a free byte refuses new scans, loses no accepted one, and accepts scans again when there is space', async () => {
    await fill(256 * 1024);
    const taken: string[] = [];
    const refusal = await until('a refusal', async () => {
      const { status, body } = await create();
      if (status === 201) taken.push(body.id);
      return status !== 201 && { status, code: body.code };
    });
    assert.deepEqual(refusal, { status: 503, code: 'storage.full' });
    const read = async (id: string) => (await call('GET', `/api/v1/scans/${id}`)).status;
    for (const id of taken) assert.equal(await read(id), 200);

    await makeRoom();
    const { status, body } = await until('a scan to be taken', async () => {
      const answer = await create();
      return answer.status === 201 && answer;
    });
    assert.equal(status, 201);
    for (const id of [...taken, body.id]) assert.equal(await read(id), 200);
    const countOf = async (path: string) => (await call('GET', path)).body.total;
    const charged = async () =>
      (await countOf('/api/v1/billing/history?type=usage_charge')) === (await countOf('/api/v1/scans'));
    await until('every charge to be booked', charged, 60);
  });

  it(
    'that has become read-only stops leases, refuses uploads and is named by readyz, and work continues when it can be written to again',
    slow,
    async () => {
      await create();
      const one = await lease();
      const data = join(folder, 'data');
      await run('mount', ['--bind', data, data]);
      try {
        await run('mount', ['-o', 'remount,bind,ro', data]);
        await until('readyz to say so', async () => (await missing()).length > 0);
        assert.deepEqual(await missing(), ['disk']);
        await assert.rejects(upload(one), isFull);
        await assert.rejects(node.acquire({ node_id: 'node', max: 1, wait_ms: 0 }), isFull);
      } finally {
        await run('umount', [data]);
      }
      assert.deepEqual(await missing(), []);
      await upload(one);
    },
  );
});

describe('a disk counts as full', () => {
  it('by error codes of the system, the stores and Redis, also as the cause of another error', () => {
    const full = [
      Object.assign(new Error('write'), { code: 'ENOSPC' }),
      Object.assign(new Error('open'), { code: 'EROFS' }),
      Object.assign(new Error('database or disk is full'), { code: 'ERR_SQLITE_ERROR', errcode: 13 }),
      Object.assign(new Error('attempt to write a readonly database'), { code: 'ERR_SQLITE_ERROR', errcode: 8 }),
      new Error("OOM command not allowed when used memory > 'maxmemory'."),
      new Error('MISCONF Errors writing to the AOF file: No space left on device'),
      new Error('the store cannot write', { cause: Object.assign(new Error('fdatasync'), { code: 'ENOSPC' }) }),
    ];
    for (const error of full) assert.ok(isDiskFull(error), error.message);
    for (const other of [new Error('no'), null, 'ENOSPC']) assert.equal(isDiskFull(other), false);
  });

  it('with less free space than the floor', async () => {
    await diskSpace([tmpdir()], 0).requireFree();
    await assert.rejects(diskSpace([tmpdir()], Number.MAX_SAFE_INTEGER).requireFree(), isDiskFull);
  });

  it('if Redis refuses writes: readyz names it', async () => {
    const redis = await startRedis();
    const catalogue = await startCatalogueServer(NODE_TOKEN);
    const data = await mkdtemp(join(tmpdir(), 'adsweep-full-redis-'));
    const settings = {
      ADSWEEP_ROLES: 'refill',
      ADSWEEP_HTTP_PORT: '0',
      ADSWEEP_DATA_DIR: data,
      ADSWEEP_NODE_TOKEN: NODE_TOKEN,
      ADSWEEP_LEASE_SECRET: 'lease-secret-of-this-test',
      REDIS_URL: redis.url,
    };
    const plane = await startControlPlane(readConfig(settings), createLogger('test', 'silent'));
    const ready = async () => {
      const answer = await fetch(`http://127.0.0.1:${plane.ports.http}/readyz`);
      return ((await answer.json()) as { missing: string[] }).missing.join();
    };
    try {
      assert.equal(await ready(), '');
      await redis.client.config('SET', 'maxmemory', '1');
      assert.equal(await ready(), 'redis');
      await redis.client.config('SET', 'maxmemory', '0');
      assert.equal(await ready(), '');
    } finally {
      for (const [, stop] of plane.stops) await stop();
      catalogue.stop();
      await redis.stop();
      await rm(data, { recursive: true, force: true });
    }
  });
});
