import assert from 'node:assert/strict';
import { after, it } from 'node:test';
import { createLogger, type Logger } from '@adsweep/shared/service/logger.ts';
import { requireNoEviction, requireVersion, warnOfRedis } from '../../../src/crawling/queue/redis-requirements.ts';
import { startRedis } from '../../support/private-redis.ts';

const redis = await startRedis();
after(() => redis.stop());

it('a control plane warns at each connection to a Redis that may evict keys, with the command that prevents it', async () => {
  await redis.client.config('SET', 'maxmemory-policy', 'allkeys-lru');
  const warned = Promise.withResolvers<string>();
  const logger = { ...createLogger('test', 'silent'), warn: warned.resolve } as unknown as Logger;
  warnOfRedis(redis.client, logger);
  assert.match(await warned.promise, /allkeys-lru.*config set maxmemory-policy noeviction/);
  await redis.client.config('SET', 'maxmemory-policy', 'noeviction');
  await requireNoEviction(redis.client);
});

it('a Redis that lacks the commands of the scripts is refused, with the version that it needs', async () => {
  const reporting = (info: string) => ({ info: async () => info }) as unknown as typeof redis.client;
  await assert.rejects(
    requireVersion(reporting('# Server\r\nredis_version:6.0.16\r\n')),
    /Redis 6\.0\.16 is too old .* 7\.0/,
  );
  for (const info of ['redis_version:7.0.15\r\n', 'redis_version:8.2.1\r\nvalkey_version:9.0.0\r\n', ''])
    await requireVersion(reporting(info));
  await requireVersion(redis.client);
});
