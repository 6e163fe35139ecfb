import assert from 'node:assert/strict';
import { after, it } from 'node:test';
import { createLogger, type Logger } from '@adsweep/shared/service/logger.ts';
import { requireNoEviction, warnOfEviction } from '../../../src/crawling/queue/eviction-policy.ts';
import { startRedis } from '../../support/private-redis.ts';

const redis = await startRedis();
after(() => redis.stop());

it('a control plane warns at each connection to a Redis that may evict keys, with the command that prevents it', async () => {
  await redis.client.config('SET', 'maxmemory-policy', 'allkeys-lru');
  const warned = Promise.withResolvers<string>();
  const logger = { ...createLogger('test', 'silent'), warn: warned.resolve } as unknown as Logger;
  warnOfEviction(redis.client, logger);
  assert.match(await warned.promise, /allkeys-lru.*config set maxmemory-policy noeviction/);
  await redis.client.config('SET', 'maxmemory-policy', 'noeviction');
  await requireNoEviction(redis.client);
});
