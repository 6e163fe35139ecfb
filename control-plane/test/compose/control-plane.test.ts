import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { createLogger } from '@adsweep/shared/service/logger.ts';
import { slow } from '../../../shared/test/support/slow.ts';
import { until } from '../../../shared/test/support/until.ts';
import { type ControlPlane, startControlPlane } from '../../src/compose/start-control-plane.ts';
import { readConfig } from '../../src/config.ts';
import { startCatalogueServer } from '../support/catalogue-server.ts';
import { planeSettings } from '../support/plane-settings.ts';
import { type PrivateRedis, startRedis } from '../support/private-redis.ts';
import { PAGE } from '../support/running-api.ts';
import { SimulatedNode } from '../support/simulated-node.ts';

const NODE_TOKEN = 'node-token-of-this-test';

describe('a control plane', () => {
  let redis: PrivateRedis;
  let router: Awaited<ReturnType<typeof startCatalogueServer>>;
  let folder: string;
  let plane: ControlPlane;
  before(async () => {
    redis = await startRedis();
    router = await startCatalogueServer(NODE_TOKEN);
    folder = await mkdtemp(join(tmpdir(), 'adsweep-plane-'));
    plane = await start('the-first-key-of-all');
    await until('readiness', async () => (await probe('/readyz')).status === 200);
  });
  after(async () => {
    await stop();
    router.stop();
    await redis.stop();
    await rm(folder, { recursive: true, force: true });
  });

  const start = (apiKey: string, change: Record<string, string> = {}) =>
    startControlPlane(
      readConfig({
        ...planeSettings({ folder, proxyUrl: router.url, redisUrl: redis.url, nodeToken: NODE_TOKEN, apiKey }),
        ...change,
      }),
      createLogger('test', 'silent'),
    );
  const stop = async () => {
    for (const [, part] of plane.stops) await part();
  };
  const probe = (path: string, port = plane.ports.http) => fetch(`http://127.0.0.1:${port}${path}`);
  const call = async (method: string, path: string, body?: unknown, key = 'the-first-key-of-all') => {
    const answer = await fetch(`http://127.0.0.1:${plane.ports.http}${path}`, {
      method,
      headers: { authorization: `Bearer ${key}` },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: answer.status, body: await answer.json() };
  };
  const nodeApi = () => new SimulatedNode(`http://127.0.0.1:${plane.ports.node_api}`, NODE_TOKEN);
  const acquire = () => nodeApi().acquire({ node_id: 'node-1', max: 8, wait_ms: 200 });

  test('a scan that is created can be leased by a node, and is charged', async () => {
    const { status, body } = await call('POST', '/api/v1/scans', { ...PAGE, country_code: 'pt' });
    assert.equal(status, 201);
    assert.ok(body.public_report_url.startsWith(`http://127.0.0.1:${plane.ports.http}/r/`));
    const lease = await until('a lease', async () =>
      (await acquire()).leases.find(({ scan_id }) => scan_id === body.id),
    );
    assert.equal(lease.job.members[0]?.target.value, PAGE.url);
    assert.equal(lease.job.members[0]?.targeting.country_code, 'PT');
    assert.equal((await call('GET', `/api/v1/scans/${body.id}`)).body.status, 'running');
    const charged = await until('the charge', async () => {
      const { items } = (await call('GET', '/api/v1/billing/history')).body;
      return items.find(({ id }: { id: string }) => id === `charge:${body.id}`);
    });
    assert.equal(charged.amount_micros, -10_000);
  });

  test('a message to Telegram goes to its own API if the setting is left out', async (t) => {
    const requests: string[] = [];
    const real = globalThis.fetch;
    t.mock.method(globalThis, 'fetch', async (url: string, init?: RequestInit) => {
      if (new URL(url).hostname === '127.0.0.1') return real(url, init);
      requests.push(`${init?.method} ${url}`);
      return Response.json({ ok: true, result: {} });
    });
    const path = '/api/v1/alert-notifications/destinations';
    const telegram = { bot_token: '123456:secret-of-the-telegram-bot-x', chat_id: -1001234567890 };
    const { body } = await call('POST', path, { name: 'Chat', channel: 'telegram', telegram });
    assert.equal((await call('POST', `${path}/${body.id}/test`)).body.success, true);
    assert.deepEqual(requests, [`POST https://api.telegram.org/bot${telegram.bot_token}/sendMessage`]);
  });

  test('a cancelled scan is never leased, and its charge is given back', async () => {
    await redis.client.client('PAUSE', 300);
    const { body } = await call('POST', '/api/v1/scans', PAGE);
    assert.deepEqual((await call('POST', `/api/v1/scans/${body.id}/cancel`)).body, { cancelled_count: 1 });
    const { leases } = await until('an answer of the queue', async () => acquire().catch(() => null));
    assert.ok(leases.every(({ scan_id }) => scan_id !== body.id));
    await until('the refund', async () => {
      const { items } = (await call('GET', '/api/v1/billing/history?type=refund')).body;
      return items.some(({ reference_id }: { reference_id: string }) => reference_id === body.id);
    });
  });

  test('the public report of a scan is a page that needs no login', async () => {
    const { body } = await call('POST', '/api/v1/scans', PAGE);
    const answer = await fetch(body.public_report_url);
    assert.equal(answer.status, 200);
    assert.match(answer.headers.get('content-type') ?? '', /^text\/html/);
    assert.match(answer.headers.get('content-security-policy') ?? '', /default-src 'none'/);
  });

  test('the two ports are two surfaces: neither serves the other', async () => {
    assert.equal((await probe('/node/v1/leases/acquire')).status, 404);
    assert.equal((await probe('/api/v1/scans', plane.ports.node_api)).status, 404);
    assert.equal((await probe('/docs', plane.ports.node_api)).status, 404);
    assert.equal((await probe('/readyz', plane.ports.node_api)).status, 200);
    assert.equal((await call('GET', '/api/v1/scans', undefined, NODE_TOKEN)).status, 401);
  });

  test(
    'while Redis is away scans are taken, and leased when it is back; the process says that it is not ready',
    slow,
    async () => {
      await redis.kill();
      const waiting = await until('readyz to say so', async () => {
        const answer = await probe('/readyz');
        return answer.status === 503 && answer.json();
      });
      assert.deepEqual((waiting as { missing: string[] }).missing, ['redis']);
      assert.equal((await probe('/healthz')).status, 200);
      const { status, body } = await call('POST', '/api/v1/scans', PAGE);
      assert.equal(status, 201);
      await redis.start();
      await until('the scan to be leased', async () => {
        const { leases } = await acquire().catch(() => ({ leases: [] }));
        return leases.some(({ scan_id }) => scan_id === body.id);
      });
      await until('readiness', async () => (await probe('/readyz')).status === 200);
    },
  );

  test('a Redis that may evict keys is named by readyz', async () => {
    await redis.client.config('SET', 'maxmemory-policy', 'allkeys-lru');
    const answer = await probe('/readyz');
    assert.equal(answer.status, 503);
    assert.deepEqual((await answer.json()).missing, ['redis maxmemory-policy noeviction']);
    await redis.client.config('SET', 'maxmemory-policy', 'noeviction');
    assert.equal((await probe('/readyz')).status, 200);
  });

  test(
    'after a restart the scans are there, a new key replaces the old one, and tools can be switched off',
    slow,
    async () => {
      const { body } = await call('POST', '/api/v1/scans', PAGE);
      assert.equal((await call('POST', '/mcp', {}, 'no key')).status, 401);
      await stop();
      plane = await start('the-second-key-of-all', { ADSWEEP_MCP: 'off' });
      await until('readiness', async () => (await probe('/readyz')).status === 200);
      assert.equal((await call('POST', '/mcp', {})).status, 404);
      for (const [key, status] of [
        ['the-first-key-of-all', 401],
        ['the-second-key-of-all', 200],
      ] as const)
        assert.equal((await call('GET', `/api/v1/scans/${body.id}`, undefined, key)).status, status, key);
    },
  );

  test('a process with some roles does these alone, and is ready when they can be done', slow, async () => {
    await stop();
    plane = await start('', {
      ADSWEEP_ROLES: 'relay, checks',
      REDIS_URL: 'unix:///nowhere/redis.sock',
      ADSWEEP_PROXY_URL: 'http://127.0.0.1:9',
    });
    assert.equal(plane.ports.node_api, undefined);
    assert.equal((await probe('/readyz')).status, 200, 'neither needs Redis or the catalogue');
    for (const path of ['/api/v1/geos', '/docs', '/r/some-report-token-0000'])
      assert.equal((await probe(path)).status, 404, path);
    await stop();
    plane = await start('', { ADSWEEP_ROLES: 'reaper', REDIS_URL: 'unix:///nowhere/redis.sock' });
    assert.deepEqual((await (await probe('/readyz')).json()).missing, ['redis']);
    const headers = { authorization: `Bearer ${NODE_TOKEN}` };
    const metrics = await (await fetch(`http://127.0.0.1:${plane.ports.http}/metrics`, { headers })).text();
    const measured = metrics
      .split('\n')
      .filter((line) => /^adsweep_(roles|ready|disk_free_above_floor_bytes)\{/.test(line));
    const of = (name: string, label: string, value: number) =>
      `adsweep_${name}{${label},service="control-plane"} ${value}`;
    assert.deepEqual(measured, [
      of('roles', 'role="reaper"', 1),
      ...[of('ready', 'check="draining"', 1), of('ready', 'check="store"', 1), of('ready', 'check="redis"', 0)],
      of('ready', 'check="redis version 7"', 1),
      of('ready', 'check="redis maxmemory-policy noeviction"', 1),
    ]);
    assert.throws(() => readConfig({ ADSWEEP_ROLES: 'relay,cooking' }), /ADSWEEP_ROLES must be some of api, node-api/);
  });

  test(
    'it starts and serves without Redis and without a proxy-router, by the catalogue that it read last',
    slow,
    async () => {
      const alone = { REDIS_URL: 'unix:///nowhere/redis.sock', ADSWEEP_PROXY_URL: 'http://127.0.0.1:9' };
      await stop();
      plane = await start('the-first-key-of-all', alone);
      assert.deepEqual((await (await probe('/readyz')).json()).missing, ['redis']);
      assert.equal((await call('POST', '/api/v1/scans', PAGE)).status, 201);
      await stop();
      plane = await start('the-first-key-of-all', { ...alone, ADSWEEP_DATA_DIR: join(folder, 'new') });
      assert.equal((await probe('/healthz')).status, 200);
      assert.deepEqual((await (await probe('/readyz')).json()).missing, ['redis', 'catalogue']);
      assert.equal((await call('GET', '/api/v1/scans')).status, 200);
      assert.equal((await call('POST', '/api/v1/scans', PAGE)).body.code, 'catalogue.not_ready');
    },
  );
});
