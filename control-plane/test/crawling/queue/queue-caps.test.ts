import assert from 'node:assert/strict';
import { after, beforeEach, describe, it } from 'node:test';
import { crawlQueue } from '../../../src/crawling/queue/queue.ts';
import { keys, startQueue } from '../../support/running-queue.ts';
import { hintsWithoutPoll, wokenByHint } from '../../support/wake-by-hint.ts';

const CAP = 3;
let caps: Record<string, number | null> = {};
const leaseCapOf = async (organizationId: string) => caps[organizationId] ?? null;
const { queue: capped, redis, expire } = await startQueue({ leaseCapOf });
const job = (jobId: string, organizationId = 'org') => ({ jobId, organizationId, priority: 0 as const, delayMs: 0 });
const jobs = (count: number, organizationId = 'org') =>
  Array.from({ length: count }, (_, n) => job(`${organizationId}-${n}`, organizationId));
const noLeases = async () => {};
const ringOf = () => redis.client.zrange(keys.roundRobin, '0', '-1');

beforeEach(async () => {
  caps = { org: CAP };
  await redis.client.flushall();
  await capped.whileAdopting(noLeases);
});
after(() => redis.stop());

describe('the cap on the leases of an organization', () => {
  it('holds for concurrent requests, and does not affect the turns of other organizations', async () => {
    await capped.enqueueAll([...jobs(20), ...jobs(20, 'other')]);
    const queues = Array.from({ length: 6 }, () => crawlQueue(redis.client));
    const taken = (await Promise.all(queues.map((one, n) => one.take(`node-${n}`, 4, 4)))).flat();
    assert.equal(taken.length, 24 - 1, 'three and the twenty of the other one');
    assert.equal(taken.filter(({ organizationId }) => organizationId === 'org').length, CAP);
    assert.deepEqual(await ringOf(), [], 'an organization at its cap costs no look');
  });

  it('allows the next job when a lease ends or expires, and wakes a node for it', async () => {
    const waking = crawlQueue(redis.client, { leaseCapOf, wake: hintsWithoutPoll() });
    await capped.enqueueAll(jobs(20));
    const [first, second] = await capped.take('node', 32, 256);
    assert.deepEqual(await capped.take('node', 32, 256), []);
    const woken = wokenByHint(waking);
    assert.equal(await waking.end(first!), true);
    await woken;
    assert.equal((await capped.take('node', 32, 256)).length, 1);
    await expire(keys.leased, second!.jobId);
    const wokenAgain = wokenByHint(waking);
    assert.deepEqual(await waking.reap(), [second]);
    await wokenAgain;
    assert.equal((await capped.take('another', 32, 256)).length, 1);
  });

  it('does not count a lease whose keys are lost', async () => {
    await capped.enqueueAll(jobs(20));
    const [lost] = await capped.take('node', 32, 256);
    await redis.client.del(keys.job(lost!.jobId));
    await redis.client.zadd(keys.leases('org'), Date.now() - 700_000, lost!.jobId);
    await capped.enqueueAll(jobs(20).slice(10));
    assert.equal((await capped.take('node', 32, 256)).length, 1);
  });

  it('holds for delayed jobs, and for a job that is queued again', async () => {
    await capped.enqueueAll([...jobs(2), { ...job('later'), delayMs: 60_000 }, { ...job('later-2'), delayMs: 60_000 }]);
    const [first] = await capped.take('node', 32, 256);
    for (const id of ['later', 'later-2']) await expire(keys.delayed, id);
    await capped.promote();
    assert.equal((await capped.take('node', 32, 256)).length, 1);
    await capped.end(first!);
    await capped.enqueue(job(first!.jobId));
    assert.equal((await capped.take('node', 32, 256)).length, 1);
    assert.equal((await capped.depth()).leased, CAP);
  });

  it('holds while an organization has only delayed jobs, which are not taken for a loss of data', async () => {
    for (const organizationId of ['org', 'uncapped']) {
      await capped.enqueue({ ...job(`later-${organizationId}`, organizationId), delayMs: 60_000 });
      assert.deepEqual(await ringOf(), []);
    }
    assert.deepEqual(await capped.take('node', 32, 256), []);
    assert.equal(await capped.isAdopted(), true);
    assert.equal(await redis.client.hget(keys.caps, 'org'), String(CAP));
    await capped.enqueueAll([{ ...job('later-2'), delayMs: 60_000 }, job('now')]);
    assert.equal((await capped.take('node', 32, 256)).length, 1, 'one that waits beside a delayed one is leased');
    await expire(keys.delayed, 'later-org');
    await capped.promote();
    assert.equal((await capped.take('node', 32, 256)).length, 1);
    assert.equal(await capped.isAdopted(), true);
  });

  it('holds when Redis has lost everything: nothing is leased before all leases were adopted again', async () => {
    await capped.enqueueAll(jobs(5));
    const held = await capped.take('node', 32, 256);
    await redis.client.flushall();
    await capped.enqueueAll([...jobs(20), ...jobs(20, 'free')]);
    assert.equal(await capped.isAdopted(), false);
    const early = await capped.take('node', 32, 256);
    assert.deepEqual(new Set(early.map(({ organizationId }) => organizationId)), new Set(['free']));
    await redis.client.del(...held.map(({ jobId }) => keys.job(jobId)));
    await capped.whileAdopting(async () => {
      for (const ref of held) assert.equal(await capped.adopt(ref, { priority: 0, nodeId: 'node' }), true);
    });
    assert.equal(await capped.isAdopted(), true);
    assert.deepEqual(await capped.take('node', 32, 256), []);
    await capped.end(held[0]!);
    assert.equal((await capped.take('node', 32, 256)).length, 1);
  });

  it('is not applied to an incomplete count when Redis loses its data while leases are adopted', async () => {
    await assert.rejects(
      capped.whileAdopting(async () => void (await redis.client.flushall())),
      /no such key/,
    );
    assert.equal(await capped.isAdopted(), false);
  });

  it('can change while jobs wait', async () => {
    await capped.enqueueAll(jobs(20));
    assert.equal((await capped.take('node', 32, 256)).length, CAP);
    caps.org = 5;
    await capped.refreshCaps();
    assert.equal((await capped.take('node', 32, 256)).length, 2);
    caps.org = null;
    await capped.refreshCaps();
    assert.equal((await capped.take('node', 32, 256)).length, 15);
    assert.deepEqual(await redis.client.hgetall(keys.caps), {});
  });

  it('is taken into account in the number of waiting jobs that cannot be leased, regardless of free slots', async () => {
    const beyond = async () => Object.values((await capped.load()).capped).reduce((sum, count) => sum + count);
    await capped.enqueueAll([...jobs(2), ...jobs(20, 'free')]);
    assert.equal(await beyond(), 0);
    await capped.enqueueAll(jobs(20));
    assert.equal(await beyond(), 20 - CAP);
    const held = (await capped.take('node', 32, 256)).filter(({ organizationId }) => organizationId === 'org');
    assert.equal(await beyond(), 20 - CAP);
    await capped.end(held[0]!);
    assert.equal(await beyond(), 20 - CAP - 1, 'one of them can be leased now');
    caps.org = 1;
    await capped.refreshCaps();
    assert.equal(await beyond(), 20 - CAP, 'none of them can');
  });

  it('leaves room for the jobs of the first priority classes first, in the number of those that cannot be leased', async () => {
    const ofClass = (priority: 0 | 1 | 2, count: number) =>
      jobs(count).map((one) => ({ ...one, jobId: `${priority}-${one.jobId}`, priority }));
    await capped.enqueueAll([...ofClass(2, 8), ...ofClass(0, CAP - 1), ...ofClass(1, 8)]);
    assert.deepEqual((await capped.load()).capped, { 0: 0, 1: 7, 2: 8 });
  });
});
