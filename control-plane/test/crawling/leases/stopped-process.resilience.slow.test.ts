import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import type { Ready } from '@adsweep/shared/service/announce-ready.ts';
import { until } from '../../../../shared/test/support/until.ts';
import { shardKeys } from '../../../src/crawling/queue/queue-shards.ts';
import { startCatalogueServer } from '../../support/catalogue-server.ts';
import { type PrivateRedis, startRedis } from '../../support/private-redis.ts';
import { PAGE } from '../../support/running-api.ts';
import { captureOf } from '../../support/running-farm.ts';
import { type LeaseOfFirst, SimulatedNode } from '../../support/simulated-node.ts';

/** Longer than the second between two steps of the reaper and the second by which one may be late. */
const STOPPED_MS = 2_500;

describe('a control plane that is stopped by SIGSTOP', () => {
  it('reaps no live lease when it continues', async (t) => {
    const redis = await startRedis();
    t.after(() => redis.stop());
    const { api, node, signal } = await startProcess(t, redis);
    const acquire = async (): Promise<LeaseOfFirst> => {
      const { leases } = await node.acquire({ node_id: 'node-1', max: 1, wait_ms: 1_000 });
      assert.ok(leases[0]);
      return leases[0];
    };
    const expire = (lease: LeaseOfFirst) => redis.client.zadd(shardKeys(0).leased, 'XX', 1, lease.scan_id);

    const { id } = await until('the scan to be taken', async () => {
      const answer = await api('POST', '/api/v1/scans', PAGE);
      return answer.status === 201 && ((await answer.json()) as { id: string });
    });
    await expire(await acquire());
    const status = async () => ((await (await api('GET', `/api/v1/scans/${id}`)).json()) as { status: string }).status;
    await until('the end of the first grace', async () => (await status()) === 'pending', 30);

    const lease = await acquire();
    signal('SIGSTOP');
    await expire(lease);
    await pause(STOPPED_MS);
    signal('SIGCONT');
    assert.equal((await node.renew(lease)).outcome, 'renewed');
    await node.complete(lease, captureOf(['https://shop.example/']));
  });
});

/** A control plane in a process of its own, and a fake of the proxy-router's catalogue. */
async function startProcess(t: TestContext, redis: PrivateRedis) {
  const router = await startCatalogueServer('node-token-of-this-test');
  const folder = await mkdtemp(join(tmpdir(), 'adsweep-paused-'));
  const child = fork(new URL('../../../src/main.ts', import.meta.url), {
    env: {
      ADSWEEP_HTTP_PORT: '0',
      ADSWEEP_NODE_API_PORT: '0',
      ADSWEEP_DATA_DIR: folder,
      ADSWEEP_PROXY_URL: router.url,
      ADSWEEP_NODE_TOKEN: 'node-token-of-this-test',
      ADSWEEP_LEASE_SECRET: 'lease-secret-of-this-test',
      ADSWEEP_API_KEY: 'key-of-this-test',
      ADSWEEP_LOG_LEVEL: 'fatal',
      REDIS_URL: redis.url,
    },
  });
  t.after(async () => {
    if (child.exitCode === null) await Promise.all([once(child, 'exit'), child.kill('SIGKILL')]);
    router.stop();
    await rm(folder, { recursive: true, force: true });
  });
  const [{ ports }] = (await once(child, 'message')) as [Ready];
  const api = (method: string, path: string, body?: unknown) =>
    fetch(`http://127.0.0.1:${ports.http}${path}`, {
      method,
      headers: { authorization: 'Bearer key-of-this-test' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  const node = new SimulatedNode(`http://127.0.0.1:${ports.node_api}`, 'node-token-of-this-test');
  return { api, node, signal: (name: NodeJS.Signals) => child.kill(name) };
}
