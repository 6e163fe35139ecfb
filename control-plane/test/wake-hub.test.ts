import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createLogger } from '@adsweep/shared/service/logger.ts';
import { until } from '../../shared/test/support/until.ts';
import { crawlQueue } from '../src/crawling/queue/queue.ts';
import { startPromoting } from '../src/crawling/queue/start-promoting.ts';
import { openRedis, type RedisClient, redisReady } from '../src/platform/redis.ts';
import { takeTurns } from '../src/platform/take-turns.ts';
import { openWakeHub, type WakeHub } from '../src/platform/wake-hub.ts';
import { type PrivateRedis, startRedis } from './support/private-redis.ts';

/** Longer than any test: whoever waits so long is woken by a hint or not at all. */
const LONG_MS = 600_000;

describe('two processes on one Redis', () => {
  let redis: PrivateRedis;
  let other: RedisClient;
  let hubs: [WakeHub, WakeHub];
  const connected = () => until('both hubs to hear', () => hubs.every((hub) => hub.isConnected()));
  before(async () => {
    redis = await startRedis();
    other = openRedis(redis.url, createLogger('test', 'silent'));
    await redisReady(other, 5_000);
    hubs = [openWakeHub(redis.client), openWakeHub(other)];
    await connected();
  });
  after(async () => {
    for (const hub of hubs) hub.stop();
    other.disconnect();
    await redis.stop();
  });

  it('wake each other: as many of those who wait as there is work', async () => {
    const waiting = [1, 2, 3].map(() => hubs[1].signal('checks').wait(LONG_MS));
    for (const _ of waiting) hubs[0].announce('checks');
    await Promise.all(waiting);
  });

  it('find what was announced while the connection was away', async () => {
    const waiting = hubs[1].signal('outbox').wait(LONG_MS);
    await redis.kill();
    hubs[0].announce('outbox');
    await redis.start();
    await waiting;
    await connected();
    await redisReady(other, 5_000);
  });

  it('give a job to a node that waits at one when the other one enqueues it', async () => {
    const queues = [crawlQueue(redis.client, { wake: hubs[0] }), crawlQueue(other, { wake: hubs[1] })] as const;
    assert.deepEqual(await queues[1].take('node/1', 1, 1), []);
    const waiting = queues[1].waitForWork(LONG_MS);
    await queues[0].enqueue({ jobId: 'scan', organizationId: 'organization', band: 0, delayMs: 0 });
    await waiting;
    assert.equal((await queues[1].take('node/1', 1, 1)).length, 1);
  });

  it('give out a delayed job when it is due, whoever enqueued it', async (t) => {
    const queues = [crawlQueue(redis.client, { wake: hubs[0] }), crawlQueue(other, { wake: hubs[1] })] as const;
    const promoting = startPromoting({ queue: queues[0], logger: createLogger('test', 'silent') });
    t.after(() => promoting.stop());
    await queues[0].enqueue({ jobId: 'later', organizationId: 'organization', band: 0, delayMs: 300 });
    let looks = 0;
    for (let taken = 0; taken === 0; looks += 1) {
      taken = (await queues[1].take('node/2', 1, 1)).length;
      if (taken === 0) await queues[1].waitForWork(LONG_MS);
    }
    assert.ok(looks <= 5, `${looks} looks for one job`);
  });

  it('do shared work one at a time, and the other one goes on when the first gives it up', async () => {
    const [first, second] = [takeTurns(redis.client, 'work', LONG_MS), takeTurns(other, 'work', LONG_MS)];
    assert.equal(await first.run(async () => 'done'), 'done');
    assert.equal(await second.run(async () => 'done'), undefined);
    assert.equal(await first.run(async () => 'again'), 'again');
    await first.release();
    assert.equal(await second.run(async () => 'done'), 'done');
  });

  it('do shared work all the same while Redis is away', async () => {
    const turns = takeTurns(other, 'work', LONG_MS);
    await redis.kill();
    assert.equal(await turns.run(async () => 'done'), 'done');
    await redis.start();
  });
});
