import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConfigError } from '@adsweep/shared/service/load-config.ts';
import { readConfig } from '../../src/config.ts';
import { addressOf, clusterOf } from '../../src/platform/redis-url.ts';

const required = { ADSWEEP_NODE_TOKEN: 'a-token-of-the-nodes', ADSWEEP_LEASE_SECRET: 'a-secret-of-the-leases' };

test('a URL of Redis that cannot be used is refused with the other settings, and its password is in no message', () => {
  for (const url of [
    'redis://:secret/word@redis:6379',
    'redis://:secret#word@redis:6379',
    'redis://user:123/secret@redis:6379',
    'redis://:secret%zzword@redis',
    'redis://redis:99999',
    'redis://redis/first',
    'redis+cluster://:secret@one:6379,two:port',
  ])
    assert.throws(
      () => readConfig({ ...required, REDIS_URL: url, ADSWEEP_AI_MODEL: 'a-model', ADSWEEP_PROXY_URL: 'http://:1' }),
      (error) =>
        error instanceof ConfigError &&
        error.problems.length === 3 &&
        error.problems.some((problem) => problem.startsWith('REDIS_URL must be a URL that begins with redis://')) &&
        !error.message.includes('secret'),
      url,
    );
});

test('a URL of Redis names a server, a socket or a cluster, with its credentials', () => {
  const read = (url: string) => readConfig({ ...required, REDIS_URL: url }).REDIS_URL;
  assert.deepEqual(addressOf(read('rediss://user:p%2Fw@[::1]:7000/3')), {
    ...{ username: 'user', password: 'p/w', host: '::1', port: 7_000, db: 3, tls: {} },
  });
  const socket = { username: '', password: '', path: '/run/redis.sock' };
  assert.deepEqual(addressOf(read('unix:///run/redis.sock?db=2')), { ...socket, db: 2 });
  const nodes = [
    { host: 'one', port: 6379 },
    { host: 'two', port: 7_000 },
  ];
  assert.deepEqual(clusterOf(read('redis+cluster://:p%2Fw@one,two:7000')), { nodes, username: '', password: 'p/w' });
  assert.equal(clusterOf('redis://one'), null);
});
