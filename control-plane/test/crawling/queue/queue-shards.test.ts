import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createLogger } from '@adsweep/shared/service/logger.ts';
import { slow } from '../../../../shared/test/support/slow.ts';
import { until } from '../../../../shared/test/support/until.ts';
import { parseLeaseId } from '../../../src/crawling/fleet/credentials.ts';
import { refill, startRefill } from '../../../src/crawling/leases/refill.ts';
import { renew } from '../../../src/crawling/leases/renew.ts';
import { crawlQueue } from '../../../src/crawling/queue/queue.ts';
import { shardKeys, shardOf } from '../../../src/crawling/queue/queue-shards.ts';
import { openRedis, redisReady } from '../../../src/platform/redis.ts';
import { openWakeHub } from '../../../src/platform/wake-hub.ts';
import { startRedisCluster } from '../../support/redis-cluster.ts';
import { captureOf, runningFarm } from '../../support/running-farm.ts';
import { hintsWithoutPoll, takeWhenWoken } from '../../support/wake-by-hint.ts';

const SHARDS = 6;

describe('a queue of several shards on a Redis Cluster of three', () => {
  it('leases every job once, respects caps and leases, and wakes waiting nodes', slow, async (t) => {
    const cluster = await startRedisCluster();
    t.after(() => cluster.stop());
    const logger = createLogger('test', 'silent');
    const [one, two] = [openRedis(cluster.url, logger), openRedis(cluster.url, logger)] as const;
    await Promise.all([redisReady(one, 30_000), redisReady(two, 30_000)]);
    const hubs = [openWakeHub(one), openWakeHub(two)];
    t.after(() => {
      for (const hub of hubs) hub.stop();
      for (const redis of [one, two]) redis.disconnect();
    });
    await until('both hubs to be connected', () => hubs.every((hub) => hub.isConnected()));
    const leaseCapOf = async (organizationId: string) => (organizationId === 'org-0' ? 2 : null);
    const [first, second] = [one, two].map((redis, n) =>
      crawlQueue(redis, { shards: SHARDS, wake: hintsWithoutPoll(hubs[n]!), leaseCapOf }),
    );
    await first!.whileAdopting(async () => {});
    assert.equal(await second!.isAdopted(), true);

    const jobs = Array.from({ length: 240 }, (_, n) => ({
      jobId: `job-${n}`,
      organizationId: `org-${n % 24}`,
      priority: (n % 3) as 0 | 1 | 2,
      delayMs: 0,
    }));
    assert.equal(await first!.enqueueAll(jobs), 240);
    assert.ok(
      (await cluster.sizes()).every((keys) => keys > 0),
      'on all three',
    );
    assert.deepEqual(await second!.depth(), { waiting: { 0: 80, 1: 80, 2: 80 }, delayed: 0, leased: 0 });

    const taken = (await Promise.all([first!, second!].map((queue, n) => queue.take(`node-${n}`, 240, 256)))).flat();
    assert.equal(new Set(taken.map(({ jobId }) => jobId)).size, taken.length);
    assert.equal(taken.length, 240 - 8, 'but for those beyond the cap');
    assert.ok((await Promise.all(taken.map((ref) => second!.renew(ref)))).every(Boolean));
    const [capped] = taken.filter(({ organizationId }) => organizationId === 'org-0');
    for (const ref of taken) assert.equal(await first!.end(ref), true);
    assert.equal((await first!.take('node', 8, 256)).length, 2);
    assert.equal(capped?.organizationId, 'org-0');

    await second!.enqueue({ jobId: 'later', organizationId: 'org-5', priority: 0, delayMs: 60_000 });
    const keys = shardKeys(shardOf('org-5', SHARDS), SHARDS);
    const woken = takeWhenWoken(second!, 'late');
    await until('the node to wait', () => hubs[1]!.signal('jobs').waiting() === 1);
    await one.zadd(keys.delayed, 'XX', 1, 'later');
    await first!.promote();
    const { ref: late } = await woken;
    await one.zadd(keys.leased, 'XX', 1, late.jobId);
    assert.deepEqual(await second!.reap(), [late]);
    assert.equal(await first!.drop('org-5', 'unknown'), false);
  });
});

describe('a change of the number of shards', () => {
  it('moves waiting jobs, loses no lease, and leaves no keys behind', async (t) => {
    const farm = await runningFarm();
    t.after(() => farm.stop());
    const { dependencies } = farm.farm;
    const running = await farm.submit();
    const { leases } = await farm.node.acquire({ node_id: 'node', max: 1, wait_ms: 0 });
    const [lease] = leases;
    assert.equal(lease?.scan_id, running._id);
    const waiting = await farm.submit();
    await refill(dependencies);

    const queue = crawlQueue(farm.redis.client, { shards: 4 });
    const sharded = { ...dependencies, queue };
    const loop = startRefill(sharded);
    t.after(() => loop.stop());
    const keysLeft = () => farm.redis.client.keys('{q*of1}:*');
    await until('the old index to be gone', async () => (await keysLeft()).length === 0);
    assert.deepEqual(await queue.depth(), { waiting: { 0: 1, 1: 0, 2: 0 }, delayed: 0, leased: 1 });
    const ref = parseLeaseId(lease!.lease_id)!;
    assert.deepEqual(await renew(sharded, ref), { outcome: 'renewed', expires_in_ms: 10_000 });
    assert.deepEqual(
      (await queue.take('other/1', 5, 5)).map(({ jobId }) => jobId),
      [waiting._id],
    );
    assert.equal(await queue.end(ref), true, 'it is known there');
    await farm.node.complete(lease!, captureOf(['https://shop.example/']));
    assert.equal((await farm.read(running._id)).status, 'crawled');
  });
});
