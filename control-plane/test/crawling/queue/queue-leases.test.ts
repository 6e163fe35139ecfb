import assert from 'node:assert/strict';
import { after, beforeEach, describe, it } from 'node:test';
import { crawlQueue } from '../../../src/crawling/queue/queue.ts';
import type { LeaseRef } from '../../../src/crawling/queue/queue-shards.ts';
import { idsOf, keys, startQueue } from '../../support/running-queue.ts';
import { hintsWithoutPoll, wokenByHint } from '../../support/wake-by-hint.ts';

/** Holders and durations of leases. */
const { enqueue, everything, expire, queue, redis, take, takeOne } = await startQueue();
beforeEach(() => redis.client.flushall());
after(() => redis.stop());

describe('the index of crawl jobs', () => {
  it('leases a job to one node, and leaves no keys behind when it has ended', async () => {
    await enqueue('a');
    const ref = await takeOne();
    assert.deepEqual([ref.jobId, ref.organizationId], ['a', 'org']);
    assert.deepEqual(await queue.take('other', 5, 256), []);
    assert.equal(await queue.end(ref), true);
    assert.deepEqual(await everything(), []);
  });

  it('measures for how long jobs of each class are leased, the last ones above all', async () => {
    const endAfter = async (priority: 0 | 2, ms: number) => {
      await queue.enqueue({ jobId: 'a', organizationId: 'org', priority, delayMs: 0 });
      const ref = await takeOne();
      assert.deepEqual((await queue.load()).running, { 0: 0, 1: 0, 2: 0, [priority]: 1 });
      await redis.client.hincrby(keys.job('a'), 'since', -ms);
      await queue.end(ref);
    };
    const close = (value: number | null, expected: number) => assert.ok(Math.abs(value! - expected) < 1, `${value}`);
    assert.deepEqual((await queue.load()).seconds, { 0: null, 1: null, 2: null });
    await endAfter(0, 8_000);
    await endAfter(2, 40_000);
    const first = (await queue.load()).seconds;
    assert.equal(first[1], null);
    close(first[0], 8);
    close(first[2], 40);
    for (let job = 0; job < 100; job += 1) await endAfter(0, 20_000);
    close((await queue.load()).seconds[0], 20);
  });

  it('assigns increasing fences, also after Redis has lost everything', async () => {
    await enqueue('a');
    await enqueue('b');
    const [first, second] = await take(2);
    await redis.client.flushall();
    await enqueue('a');
    const third = await takeOne();
    assert.ok(first!.fence < second!.fence && second!.fence < third.fence);
    assert.ok(Number.isSafeInteger(third.fence));
  });

  it('leases a node no more jobs than it has slots, also for concurrent requests, and others when leases end or expire', async () => {
    const [other, sharded] = [crawlQueue(redis.client), crawlQueue(redis.client, { shards: 3 })];
    for (let n = 0; n < 20; n += 1) await enqueue(`scan-${n}`);
    const [one, two] = await Promise.all([queue.take('node', 3, 4), other.take('node', 3, 4)]);
    assert.equal(one.length + two.length, 4);
    assert.deepEqual(await queue.take('node', 3, 4), []);
    assert.equal((await queue.take('neighbour', 1, 4)).length, 1);
    await queue.end(one[0]!);
    assert.equal((await queue.take('node', 3, 4)).length, 1);
    for (const key of [keys.leased, keys.node('node')]) await expire(key, two[0]!.jobId);
    await queue.reap();
    await redis.client.del(keys.lost);
    assert.equal((await queue.take('node', 3, 4)).length, 1);
    await redis.client.del(keys.node('node'));
    for (const ref of [one[1]!, one[2]!]) assert.ok(await queue.renew(ref));
    assert.equal((await queue.take('node', 3, 4)).length, 2, 'a count that was lost is made good by renewals');

    for (let n = 0; n < 20; n += 1)
      await sharded.enqueue({ jobId: `sharded-${n}`, organizationId: `org-${n}`, priority: 0, delayMs: 0 });
    assert.equal((await sharded.take('many', 9, 7)).length, 7);
    assert.equal((await sharded.take('many', 9, 7)).length, 0);
  });

  it('leases a node that lost its leases one job at a time, and after further losses in a row none for a while, until it has kept or ended one', async () => {
    for (let n = 0; n < 40; n += 1) await enqueue(`scan-${n}`);
    const lose = async (node: string, refs: LeaseRef[]) => {
      for (const { jobId } of refs) for (const key of [keys.leased, keys.node(node)]) await expire(key, jobId);
      await queue.reap();
    };
    const counts = async (...nodes: string[]) => {
      const taken = await Promise.all(nodes.map((node) => queue.take(node, 3, 4)));
      for (const ref of taken.flat())
        await redis.client.zrem(keys.node(nodes[taken.findIndex((of) => of.includes(ref))]!), ref.jobId);
      return taken.map(({ length }) => length);
    };
    /** As if the last loss of the node had been so long ago. */
    const losses = (count: number, agoMs: number) =>
      redis.client.hset(keys.lost, 'node', `${count} ${Date.now() - agoMs}`);

    await lose('node/1', await queue.take('node/1', 3, 4));
    assert.deepEqual(
      await counts('node/1', 'node/2', 'node-1/1'),
      [1, 1, 3],
      'also another process of that name, and no other node',
    );
    const [held] = await queue.take('node/2', 3, 4);
    assert.deepEqual(await queue.take('node/2', 3, 4), [], 'it has one');
    await lose('node/2', [held!]);
    assert.deepEqual(await counts('node/2'), [1], 'leases that are lost at about the same time are one loss');

    await losses(1, 60_000);
    await lose('node/2', await queue.take('node/2', 3, 4));
    assert.deepEqual(await counts('node/2'), [0]);
    for (const [count, pauseMs] of [
      [2, 2_000],
      [4, 8_000],
      [30, 60_000],
    ] as const) {
      await losses(count, pauseMs - 500);
      assert.deepEqual(await counts('node/2'), [0], `${count} losses`);
      await losses(count, pauseMs + 500);
      assert.deepEqual(await counts('node/2'), [1], `${count} losses`);
    }
    await losses(30, -3_600_000);
    assert.deepEqual(await counts('node/2'), [3], 'counted before the clock of Redis was set back');

    await losses(1, 0);
    const [ended] = await queue.take('node/2', 3, 4);
    await queue.end(ended!);
    assert.deepEqual(await counts('node/2'), [3]);

    await losses(1, 0);
    const [kept] = await queue.take('node/2', 1, 4);
    assert.ok(await queue.renew(kept!));
    assert.deepEqual(await queue.take('node/2', 3, 4), []);
    // A millisecond more than half a minute: a lease of this millisecond may be younger than its clock shows.
    const older = { ...kept!, fence: kept!.fence - 30_001_000 };
    await redis.client.hset(keys.job(older.jobId), 'fence', String(older.fence));
    assert.ok(await queue.renew(older));
    assert.equal((await queue.take('node/2', 3, 4)).length, 3);
  });

  it('leases a node that releases whatever it gets nothing for a while, until it has ended one', async () => {
    const release = async (node: string) => {
      const refs = await queue.take(node, 1, 4);
      for (const ref of refs) assert.ok(await queue.end(ref, true));
      for (const { jobId } of refs) await enqueue(jobId);
      return refs.length;
    };
    for (let n = 0; n < 4; n += 1) await enqueue(`scan-${n}`);
    let released = 0;
    while ((await release(`node/${released % 2}`)) > 0 && released < 400) released += 1;
    assert.equal(released, 302, 'as many as a node has that drains are free, whatever process releases them');
    assert.equal(await release('other/1'), 1, 'other nodes get them');

    /** As if the last release of the node had been so long ago. */
    const releases = (count: number, agoMs: number) =>
      redis.client.hset(keys.lost, 'released node', `${count} ${Date.now() - agoMs}`);
    await releases(330, 59_000);
    assert.deepEqual(await queue.take('node/1', 3, 4), []);
    await releases(330, 60_001);
    const [kept, ...more] = await queue.take('node/1', 3, 4);
    assert.deepEqual(more, [], 'one at a time');
    assert.ok(await queue.end(kept!));
    assert.equal((await queue.take('node/1', 3, 4)).length, 3);
  });

  it('measures how long jobs take by those that ended, not by those that nodes gave back', async () => {
    await enqueue('long');
    const ended = await takeOne();
    await redis.client.hincrby(keys.job('long'), 'since', -20_000);
    await queue.end(ended);
    const seconds = async () => Math.round((await queue.load()).seconds[0] ?? 0);
    assert.equal(await seconds(), 20);
    for (let n = 0; n < 20; n += 1) {
      await enqueue('given back');
      await queue.end(await takeOne(), true);
    }
    assert.equal(await seconds(), 20);
  });

  it('renews a lease only for its holder', async () => {
    await enqueue('a');
    const ref = await takeOne();
    await expire(keys.leased, 'a');
    assert.equal(await queue.renew({ ...ref, fence: ref.fence - 1 }), null);
    assert.ok(await queue.renew(ref), 'late, but nobody reaped it');
    assert.deepEqual(await queue.reap(), []);
    assert.equal(await queue.renew({ ...ref, jobId: 'unknown' }), null);
  });

  it('returns an expired lease to only one of two reapers', async () => {
    for (const id of ['a', 'b', 'c']) await enqueue(id);
    await take(3);
    await expire(keys.leased, 'a');
    await expire(keys.leased, 'b');
    const [one, two] = await Promise.all([queue.reap(), queue.reap()]);
    assert.deepEqual(idsOf([...one, ...two]).sort(), ['a', 'b']);
  });

  it('ignores the end of a lease that was reaped, even if another node has the job', async () => {
    await enqueue('a');
    const late = await takeOne();
    await expire(keys.leased, 'a');
    await queue.reap();
    assert.equal(await queue.end(late), false);
    await enqueue('a');
    const now = await takeOne();
    assert.equal(await queue.end(late), false);
    assert.ok(await queue.renew(now));
  });

  it('tells a node that may have no more jobs from one for which there are none', async () => {
    const [twice, shards] = [crawlQueue(redis.client, { shards: 2 }), crawlQueue(redis.client)];
    for (const full of [twice, shards]) {
      await redis.client.flushall();
      assert.deepEqual(await full.takeOrFull('node', 1, 1), []);
      for (const organizationId of ['one', 'two', 'three'])
        await full.enqueue({ jobId: organizationId, organizationId, priority: 0, delayMs: 0 });
      assert.equal((await full.takeOrFull('node', 2, 2))?.length, 2);
      assert.equal(await full.takeOrFull('node', 2, 2), null);
      assert.equal((await full.takeOrFull('node', 2, 3))?.length, 1);
      assert.deepEqual(await full.takeOrFull('node', 2, 4), []);
    }
  });

  it('wakes a node that waits for work when a job is enqueued', async () => {
    const waking = crawlQueue(redis.client, { wake: hintsWithoutPoll() });
    const woken = wokenByHint(waking);
    await waking.enqueue({ jobId: 'a', organizationId: 'org', priority: 0, delayMs: 0 });
    await woken;
  });
});
