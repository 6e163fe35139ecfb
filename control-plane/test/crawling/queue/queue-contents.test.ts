import assert from 'node:assert/strict';
import { after, beforeEach, describe, it } from 'node:test';
import { crawlQueue } from '../../../src/crawling/queue/queue.ts';
import { shardKeys, shardOf } from '../../../src/crawling/queue/queue-shards.ts';
import { idsOf, startQueue } from '../../support/running-queue.ts';

/** Which jobs the queue contains. */
const { enqueue, everything, queue, redis, take, takeOne } = await startQueue();
beforeEach(() => redis.client.flushall());
after(() => redis.stop());

describe('the index of crawl jobs', () => {
  it('contains a scan once, even if it is enqueued several times', async () => {
    assert.deepEqual(await Promise.all([enqueue('a'), enqueue('a'), enqueue('a', 'org', 1, 500)]), [
      true,
      false,
      false,
    ]);
    assert.deepEqual(idsOf(await take(5)), ['a']);
    assert.equal(await enqueue('a'), false, 'a leased scan is not enqueued either');
  });

  it('drops waiting and delayed jobs, but not leased ones', async () => {
    await enqueue('waiting');
    await enqueue('delayed', 'org', 0, 60_000);
    assert.equal(await queue.drop('org', 'waiting'), true);
    assert.equal(await queue.drop('org', 'delayed'), true);
    assert.equal(await queue.drop('org', 'unknown'), false);
    assert.deepEqual(await everything(), []);
    await enqueue('leased');
    await takeOne();
    assert.equal(await queue.drop('org', 'leased'), false);
  });

  it('counts waiting jobs by priority class, delayed jobs and leased jobs', async () => {
    await enqueue('leased', 'org', 1);
    await takeOne();
    await enqueue('a', 'org', 0);
    await enqueue('b', 'other', 1);
    await enqueue('c', 'other', 1);
    await enqueue('d', 'org', 0, 60_000);
    await enqueue('e', 'org', 2, -90_000);
    assert.deepEqual(await queue.depth(), { waiting: { 0: 1, 1: 2, 2: 1 }, delayed: 1, leased: 1 });
    const oldest = await queue.oldestWaiting();
    assert.ok(oldest[2] >= 89 && oldest[2] < 1_000 && oldest[0] < 60, JSON.stringify(oldest));
    await queue.drop('org', 'e');
    assert.equal((await queue.oldestWaiting())[2], 0);
  });

  it('has the age of the oldest job that waits for a node, without those of an organization at its cap', async () => {
    const capped = crawlQueue(redis.client, { leaseCapOf: async (id) => (id === 'org' ? 1 : null) });
    const add = (jobId: string, organizationId: string, delayMs: number) =>
      capped.enqueue({ jobId, organizationId, priority: 1, delayMs });
    await capped.whileAdopting(async () => undefined);
    await add('leased', 'org', -900_000);
    const bulk = async () => Math.round((await capped.oldestWaiting())[1] / 100);
    assert.equal(await bulk(), 9);
    const [lease] = await capped.take('node', 1, 256);
    assert.equal(lease?.jobId, 'leased');
    await add('waits', 'org', -800_000);
    await add('other', 'other', -90_000);
    assert.equal(await bulk(), 1);
    await capped.drop('other', 'other');
    assert.equal(await bulk(), 0);
    await capped.end(lease!);
    assert.equal(await bulk(), 8);
  });

  it('distributes organizations over shards, and leases jobs from all of them', async () => {
    const sharded = crawlQueue(redis.client, { shards: 4 });
    const organizations = Array.from({ length: 12 }, (_, n) => `org-${n}`);
    for (const organizationId of organizations)
      await sharded.enqueue({ jobId: `of-${organizationId}`, organizationId, priority: 0, delayMs: 0 });
    const taken = await sharded.take('node', 20, 256);
    assert.equal(taken.length, 12);
    for (const { jobId, organizationId } of taken) {
      const shard = shardOf(organizationId, 4);
      assert.notEqual(await redis.client.zscore(shardKeys(shard, 4).leased, jobId), null);
    }
    for (const ref of taken) assert.equal(await sharded.end(ref), true);
  });

  it('batches jobs that are enqueued one by one at the same time', async () => {
    const sharded = crawlQueue(redis.client, { shards: 2 });
    const calls = async () =>
      [...(await redis.client.info('commandstats')).matchAll(/cmdstat_eval(?:sha)?:calls=(\d+)/g)].reduce(
        (sum, [, count]) => sum + Number(count),
        0,
      );
    await redis.client.config('RESETSTAT');
    const one = (n: number) => ({
      jobId: `job-${n % 250}`,
      organizationId: `org-${n % 10}`,
      priority: 0 as const,
      delayMs: 0,
    });
    const added = await Promise.all(Array.from({ length: 300 }, (_, n) => sharded.enqueue(one(n))));
    assert.deepEqual(
      added.map((isNew, n) => isNew === n < 250),
      added.map(() => true),
    );
    assert.equal((await sharded.depth()).waiting[0], 250);
    assert.ok((await calls()) <= 10, `${await calls()} calls for 300 jobs`);
  });
});
