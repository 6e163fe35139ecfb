import assert from 'node:assert/strict';
import { after, beforeEach, describe, it } from 'node:test';
import { LEASE_MS } from '@adsweep/shared/lease/messages.ts';
import { idsOf, keys, startQueue } from '../../support/running-queue.ts';

/** Recovery after Redis has lost data. */
const { enqueue, expire, queue, redis, take, takeOne } = await startQueue();
beforeEach(() => redis.client.flushall());
after(() => redis.stop());

describe('the index of crawl jobs', () => {
  it('adopts a lease that it has lost, but never an older one', async () => {
    await enqueue('a');
    const ref = await takeOne();
    await redis.client.flushall();
    assert.equal(await queue.renew(ref), null);
    const job = { priority: 0 as const, nodeId: 'node' };
    assert.equal(await queue.adopt(ref, job), true);
    assert.equal(await queue.adopt(ref, job), false);
    assert.equal(await queue.adopt({ ...ref, fence: ref.fence - 1 }, job), false);
    assert.ok(await queue.renew(ref));
  });

  it('does not adopt a waiting job: its next lease is verified in MongoDB', async () => {
    const job = { priority: 0 as const, nodeId: 'node' };
    await enqueue('waiting');
    await enqueue('delayed', 'org', 0, 60_000);
    assert.equal(await queue.adopt({ jobId: 'waiting', fence: 1, organizationId: 'org' }, job), false);
    assert.equal(await queue.adopt({ jobId: 'delayed', fence: 1, organizationId: 'org' }, job), false);
    assert.deepEqual(idsOf(await take(5)), ['waiting']);
  });

  it('adopts a lease that has lost its deadline', async () => {
    await enqueue('a');
    const ref = await takeOne();
    await redis.client.del(keys.leased);
    assert.equal(await queue.adopt(ref, { priority: 0, nodeId: 'node' }), true);
    await expire(keys.leased, 'a');
    assert.deepEqual(await queue.reap(), [ref]);
  });

  it('enqueues a scan again if any of its keys is lost, and leases it once', async () => {
    const lost = [
      keys.roundRobin,
      keys.waiting('org', 0),
      keys.waitingOfAll(0),
      keys.turns('org'),
      keys.job('a'),
      keys.fence,
    ];
    for (const key of lost) {
      await redis.client.flushall();
      await enqueue('a');
      await redis.client.del(key);
      await enqueue('a');
      assert.equal(await enqueue('a'), false);
      assert.equal((await queue.depth()).waiting[0], 1);
      assert.deepEqual(idsOf(await take(5)), ['a'], key);
    }
    await enqueue('later', 'org', 0, 60_000);
    await redis.client.del(keys.delayed);
    assert.equal(await enqueue('later', 'org', 0, 60_000), true);
    assert.equal((await queue.depth()).delayed, 1);
  });

  it('delays no job and no end of a lease for longer than usual after the clock of Redis was set back', async () => {
    const now = Date.now();
    /** As if the clock had been an hour ahead when the score was written. */
    const moveAhead = (key: string, jobId: string) => redis.client.zadd(key, 'XX', 'INCR', 3_600_000, jobId);
    for (const [id, delayMs] of [
      ['retry', 30_000],
      ['usual', 60_000],
    ] as const)
      await enqueue(id, 'org', 0, delayMs);
    await moveAhead(keys.delayed, 'retry');
    await queue.promote();
    assert.deepEqual(idsOf(await take(5)), ['retry']);
    assert.equal((await queue.depth()).delayed, 1, 'one with the longest delay still waits for it');

    await moveAhead(keys.leased, 'retry');
    assert.deepEqual(await queue.reap(), []);
    const deadline = Number(await redis.client.zscore(keys.leased, 'retry'));
    assert.ok(deadline >= now + LEASE_MS && deadline < now + LEASE_MS + 30_000, `${deadline - now} ms`);
    await expire(keys.leased, 'retry');
    assert.deepEqual(idsOf(await queue.reap()), ['retry']);
  });

  it('continues after a restart of Redis, which loses the scripts, and fails fast while Redis is unavailable', async () => {
    await enqueue('a');
    await redis.kill();
    const asked = performance.now();
    await assert.rejects(enqueue('b'));
    assert.ok(performance.now() - asked < 2_500);
    await redis.start();
    await enqueue('c');
    assert.deepEqual(idsOf(await take(5)), ['c']);
  });
});
