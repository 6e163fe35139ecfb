import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { createLogger } from '@adsweep/shared/service/logger.ts';
import type { OrganizationRecord } from '../../../src/accounts/organizations/organization.ts';
import { rateLimitHeaders, requestCounter } from '../../../src/accounts/rate-limit/limit-requests.ts';
import { openRedis, type RedisClient, redisReady } from '../../../src/platform/redis.ts';
import { type Answered, KEYS, ORGANIZATIONS, type RunningApi, runningApi } from '../../support/running-api.ts';

const NAMES = ['ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset'];
const told = ({ headers }: Answered) => NAMES.slice(0, 2).map((name) => headers.get(name));

describe('requests per minute', () => {
  let api: RunningApi;
  let redis: RunningApi['redis'];
  before(async () => {
    api = await runningApi();
    redis = api.redis;
  });
  beforeEach(() => redis.client.flushall());
  after(() => api.stop());

  const limitOurs = (limit: number | null) =>
    api.store
      .collection<OrganizationRecord>('organizations')
      .updateOne({ _id: ORGANIZATIONS.ours }, { $set: { 'quotas.requests_per_minute': limit } });

  test('§5.8 responses to an organization with a limit have RateLimit headers, and requests beyond it get 429', async () => {
    await limitOurs(4);
    const reader = await api.keyThatMay('scans.read');
    const asked: [send: () => Promise<Answered>, status: number][] = [
      [() => api.get('/api/v1/scans', { key: reader }), 200],
      [() => api.get('/api/v1/scans/none', { key: reader }), 404],
      [() => api.post('/api/v1/scans', {}, { key: reader }), 403],
      [() => api.get('/api/v1/scans?limit=0', { key: reader }), 422],
      [() => api.get('/api/v1/scans', { key: reader }), 429],
    ];
    for (const [at, [send, status]] of asked.entries()) {
      const answer = await send();
      assert.deepEqual([answer.status, ...told(answer)], [status, '4', String(Math.max(0, 3 - at))]);
      const reset = Number(answer.headers.get('ratelimit-reset'));
      assert.ok(reset >= 1 && reset <= 60, `${reset}`);
      assert.equal(answer.headers.get('retry-after'), status === 429 ? String(reset) : null);
      if (status === 429) assert.deepEqual([answer.body.code, typeof answer.body.detail], ['rate_limited', 'string']);
    }
    const other = await api.get('/api/v1/scans');
    assert.deepEqual([other.status, ...told(other)], [429, '4', '0'], 'the keys of an organization share its limit');
    const theirs = await api.get('/api/v1/scans', { key: KEYS.theirs });
    assert.deepEqual(told(theirs), [null, null]);
  });

  test('§5.8 a stolen key that uses up the limit is found and revoked with another key', async () => {
    await limitOurs(3);
    const keys = '/api/v1/account/api-keys';
    const stolen = (await api.post(keys, { name: 'Stolen' })).body;
    const steal = async () => {
      const answers = [];
      for (let sent = 0; sent < 20; sent += 1) answers.push(await api.get(keys, { key: stolen.full_key }));
      return answers.filter(({ status }) => status === 200).length;
    };
    assert.equal(await steal(), 12, 'two of the limit, and ten of its own');
    assert.equal((await api.get('/api/v1/scans')).status, 429);
    const listed = await api.get(keys);
    assert.deepEqual([listed.status, ...told(listed)], [200, '3', '0']);
    const reader = await api.keyThatMay('scans.read');
    assert.equal((await api.get(keys, { key: reader })).status, 429, 'a key that may not read them');
    assert.equal((await api.call('DELETE', `${keys}/${stolen.id}`)).status, 204);
    assert.equal((await api.get(keys, { key: stolen.full_key })).status, 401);
  });

  test('§5.36 a call of a tool at /mcp counts as one request, with the calls of the API that it makes', async () => {
    await limitOurs(3);
    const message = {
      ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
      params: { name: 'listScans', arguments: {} },
    };
    const headers = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' };
    for (const left of ['2', '1', '0']) {
      const answer = await api.call('POST', '/mcp', { body: message, headers });
      assert.deepEqual([answer.status, ...told(answer)], [200, '3', left]);
    }
    assert.equal((await api.call('POST', '/mcp', { body: message, headers })).status, 429);
    assert.equal((await api.get('/api/v1/scans')).status, 429);
  });

  test('§5.36 only the process itself can mark a request as counted', async () => {
    await limitOurs(10);
    assert.equal((await api.get('/api/v1/scans', { key: `counted-${crypto.randomUUID()}-${KEYS.ours}` })).status, 401);
  });

  test('§5.8 processes share one count, which restarts a minute after its first request', async () => {
    const second = openRedis(redis.url, createLogger('test', 'silent'));
    await redisReady(second, 60_000);
    const counters = [requestCounter(redis.client), requestCounter(second)];
    const counted = await Promise.all(Array.from({ length: 40 }, (_, at) => counters[at % 2]!('key')));
    second.disconnect();
    const numbers = counted.map((one) => one!.requests).sort((a, b) => a - b);
    assert.deepEqual(
      numbers,
      Array.from({ length: 40 }, (_, at) => at + 1),
    );
    const amounts = await Promise.all([3, 1, 10].map((amount) => counters[0]!('key', amount)));
    assert.deepEqual(
      amounts.map((one) => one!.requests),
      [43, 44, 54],
    );
    const [name] = await redis.client.keys('*');
    const left = await redis.client.pttl(name!);
    assert.ok(left > 0 && left <= 60_000, `${left} ms`);
    await redis.client.pexpire(name!, 0);
    assert.equal((await counters[0]!('key'))?.requests, 1);
  });

  test('§5.8 requests of an organization without a limit are not counted', async () => {
    await limitOurs(null);
    assert.deepEqual(told(await api.get('/api/v1/scans')), [null, null]);
    assert.deepEqual(await redis.client.keys('*'), []);
  });

  test('§5.8 while Redis is unavailable no request is refused, and Redis is tried again after a second', async () => {
    await limitOurs(1);
    await redis.kill();
    for (let request = 0; request < 3; request += 1) {
      const answer = await api.get('/api/v1/scans');
      assert.deepEqual([answer.status, ...told(answer)], [200, null, null]);
    }
    await redis.start();
    let now = 0;
    let asked = 0;
    const evalsha = async () => {
      asked += 1;
      throw new Error('Redis is away');
    };
    const count = requestCounter({ evalsha } as unknown as RedisClient, { now: () => now });
    for (const [ms, times] of [
      [0, 1],
      [999, 1],
      [1_000, 2],
    ] as const) {
      now = ms;
      assert.deepEqual([await count('organization'), asked], [null, times]);
    }
  });

  test('§5.8 requests are counted again, even if the counter was of another type or had no end', async () => {
    let now = 0;
    const count = requestCounter(redis.client, { now: () => now });
    await count('organization');
    const [name = ''] = await redis.client.keys('*');
    for (const write of [() => redis.client.rpush(name, 'x'), () => redis.client.set(name, 'x')]) {
      await redis.client.del(name);
      await write();
      assert.equal(await count('organization'), null);
      now += 1_000;
      assert.equal((await count('organization'))?.requests, 1);
    }
    await redis.client.set(name, '5');
    const counted = await count('organization');
    assert.ok(counted?.requests === 6 && counted.leftMs > 0);
  });

  test('RateLimit-Remaining is never negative, and RateLimit-Reset is at least one second', () => {
    const headers = (requests: number, leftMs: number) => Object.values(rateLimitHeaders(10, { requests, leftMs }));
    assert.deepEqual(headers(1, 60_000), ['10', '9', '60']);
    assert.deepEqual(headers(12, 1), ['10', '0', '1']);
    assert.deepEqual(headers(10, -2), ['10', '0', '1']);
    assert.deepEqual(headers(3, 1_001), ['10', '7', '2']);
  });
});
