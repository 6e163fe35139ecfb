import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { after, before, beforeEach, describe, it } from 'node:test';
import { createLogger, type Logger } from '@adsweep/shared/service/logger.ts';
import { requireNoEviction, warnOfEviction } from '../src/crawling/queue/eviction-policy.ts';
import { type Band, shardKeys, shardOf } from '../src/crawling/queue/keys.ts';
import { type CrawlQueue, crawlQueue, type LeaseRef } from '../src/crawling/queue/queue.ts';
import { type PrivateRedis, startRedis } from './support/private-redis.ts';

let redis: PrivateRedis;
let queue: CrawlQueue;
const keys = shardKeys(0);

const enqueue = (jobId: string, organizationId = 'org', band: Band = 0, delayMs = 0) =>
  queue.enqueue({ jobId, organizationId, band, delayMs });
const idsOf = (refs: LeaseRef[]) => refs.map(({ jobId }) => jobId);
const take = (max: number) => queue.take('node', max, 256);
const takeOne = async (): Promise<LeaseRef> => {
  const [ref] = await take(1);
  assert.ok(ref);
  return ref;
};
/** Makes a lease's deadline, or a delayed job's due time, lie in the past. */
const expire = (sortedSet: string, jobId: string) => redis.client.zadd(sortedSet, 'XX', 1, jobId);
const everything = async () => (await redis.client.keys('*')).filter((key) => key !== keys.fence).sort();

describe('the index of crawl jobs', () => {
  before(async () => {
    redis = await startRedis();
    queue = crawlQueue(redis.client);
  });
  beforeEach(() => redis.client.flushall());
  after(() => redis.stop());

  it('gives a job to one node, and leaves nothing behind when it has ended', async () => {
    await enqueue('a');
    const ref = await takeOne();
    assert.deepEqual([ref.jobId, ref.organizationId], ['a', 'org']);
    assert.deepEqual(await queue.take('other', 5, 256), []);
    assert.equal(await queue.end(ref), true);
    assert.deepEqual(await everything(), []);
  });

  it('takes a scan once however often it is enqueued', async () => {
    assert.deepEqual(await Promise.all([enqueue('a'), enqueue('a'), enqueue('a', 'org', 1, 500)]), [
      true,
      false,
      false,
    ]);
    assert.deepEqual(idsOf(await take(5)), ['a']);
    assert.equal(await enqueue('a'), false, 'a leased scan is not enqueued either');
  });

  it('gives fences that grow, also when Redis has lost everything', async () => {
    await enqueue('a');
    await enqueue('b');
    const [first, second] = await take(2);
    await redis.client.flushall();
    await enqueue('a');
    const third = await takeOne();
    assert.ok(first!.fence < second!.fence && second!.fence < third.fence);
    assert.ok(Number.isSafeInteger(third.fence));
  });

  it('gives each organization its turn', async () => {
    for (let n = 0; n < 50; n += 1) await enqueue(`big-${n}`, 'big');
    await enqueue('small-0', 'small');
    await enqueue('other-0', 'other');
    const [first, ...others] = idsOf(await take(4));
    assert.deepEqual([first, ...others.sort()], ['big-0', 'big-1', 'other-0', 'small-0']);
  });

  it('gives four interactive jobs for two of bulk and one of campaigns while all wait', async () => {
    for (const [band, name] of [
      [2, 'campaign'],
      [1, 'bulk'],
      [0, 'page'],
    ] as const)
      for (let n = 0; n < 8; n += 1) await enqueue(`${name}-${n}`, 'org', band);
    const bandsOf = (refs: LeaseRef[]) => idsOf(refs).map((id) => id.split('-')[0]);
    const turns = ['page', 'page', 'bulk', 'page', 'page', 'bulk', 'campaign'];
    assert.deepEqual(bandsOf(await take(14)), [...turns, ...turns]);
    assert.deepEqual(bandsOf(await take(10)), [...Array(4).fill('bulk'), ...Array(6).fill('campaign')]);
  });

  it('leases the one scan of an organization within two turns while another has 10,000 waiting', async () => {
    const many = Array.from({ length: 10_000 }, (_, n) => ({
      jobId: `many-${n}`,
      organizationId: 'many',
      band: 1 as const,
      delayMs: 0,
    }));
    assert.equal(await queue.enqueueAll(many), 10_000);
    await take(20);
    await enqueue('single', 'another');
    assert.ok(idsOf(await take(2)).includes('single'));
    assert.equal((await queue.depth()).waiting[1], 10_000 - 21);
  });

  it('gives first what was due first, also when it was queued later', async () => {
    await enqueue('now');
    await enqueue('long-due', 'org', 0, -60_000);
    assert.deepEqual(idsOf(await take(2)), ['long-due', 'now']);
  });

  it('keeps a delayed job back until it is due', async () => {
    await enqueue('a', 'org', 0, 60_000);
    assert.deepEqual(await take(1), []);
    await expire(keys.delayed, 'a');
    assert.deepEqual(idsOf(await take(1)), ['a']);
  });

  it('leases a node no more than it has slots, whoever asks at the same time, and again as leases end or run out', async () => {
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
    assert.equal((await queue.take('node', 3, 4)).length, 1);
    await redis.client.del(keys.node('node'));
    for (const ref of [one[1]!, one[2]!]) assert.equal(await queue.renew(ref), true);
    assert.equal((await queue.take('node', 3, 4)).length, 2, 'a count that was lost is made good by renewals');

    for (let n = 0; n < 20; n += 1)
      await sharded.enqueue({ jobId: `sharded-${n}`, organizationId: `org-${n}`, band: 0, delayMs: 0 });
    assert.equal((await sharded.take('many', 9, 7)).length, 7);
    assert.equal((await sharded.take('many', 9, 7)).length, 0);
  });

  it('renews for the holder alone', async () => {
    await enqueue('a');
    const ref = await takeOne();
    await expire(keys.leased, 'a');
    assert.equal(await queue.renew({ ...ref, fence: ref.fence - 1 }), false);
    assert.equal(await queue.renew(ref), true, 'late, but nobody reaped it');
    assert.deepEqual(await queue.reap(), []);
    assert.equal(await queue.renew({ ...ref, jobId: 'unknown' }), false);
  });

  it('tells an expired lease to one of two reapers', async () => {
    for (const id of ['a', 'b', 'c']) await enqueue(id);
    await take(3);
    await expire(keys.leased, 'a');
    await expire(keys.leased, 'b');
    const [one, two] = await Promise.all([queue.reap(), queue.reap()]);
    assert.deepEqual(idsOf([...one, ...two]).sort(), ['a', 'b']);
  });

  it('does nothing for a node that ends after it was reaped, even when another has the job', async () => {
    await enqueue('a');
    const late = await takeOne();
    await expire(keys.leased, 'a');
    await queue.reap();
    assert.equal(await queue.end(late), false);
    await enqueue('a');
    const now = await takeOne();
    assert.equal(await queue.end(late), false);
    assert.equal(await queue.renew(now), true);
  });

  it('adopts a lease it has forgotten, and an older one never', async () => {
    await enqueue('a');
    const ref = await takeOne();
    await redis.client.flushall();
    assert.equal(await queue.renew(ref), false);
    const job = { band: 0 as const, nodeId: 'node' };
    assert.equal(await queue.adopt(ref, job), true);
    assert.equal(await queue.adopt(ref, job), false);
    assert.equal(await queue.adopt({ ...ref, fence: ref.fence - 1 }, job), false);
    assert.equal(await queue.renew(ref), true);
  });

  it('adopts no job that waits: whoever takes it next asks MongoDB', async () => {
    const job = { band: 0 as const, nodeId: 'node' };
    await enqueue('waiting');
    await enqueue('delayed', 'org', 0, 60_000);
    assert.equal(await queue.adopt({ jobId: 'waiting', fence: 1, organizationId: 'org' }, job), false);
    assert.equal(await queue.adopt({ jobId: 'delayed', fence: 1, organizationId: 'org' }, job), false);
    assert.deepEqual(idsOf(await take(5)), ['waiting']);
  });

  it('drops what waits or is delayed, and not what a node has', async () => {
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

  it('counts what waits by band, what is delayed and what is leased', async () => {
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

  it('takes a scan again when any of its keys is gone, and gives it once', async () => {
    const lost = [keys.ring, keys.waiting('org', 0), keys.band(0), keys.turns('org'), keys.job('a'), keys.fence];
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

  it('adopts a lease that has lost its deadline', async () => {
    await enqueue('a');
    const ref = await takeOne();
    await redis.client.del(keys.leased);
    assert.equal(await queue.adopt(ref, { band: 0, nodeId: 'node' }), true);
    await expire(keys.leased, 'a');
    assert.deepEqual(await queue.reap(), [ref]);
  });

  it('goes on after a restart of Redis, which forgets the scripts, and fails fast while it is away', async () => {
    await enqueue('a');
    await redis.kill();
    const asked = performance.now();
    await assert.rejects(enqueue('b'));
    assert.ok(performance.now() - asked < 2_500);
    await redis.start();
    await enqueue('c');
    assert.deepEqual(idsOf(await take(5)), ['c']);
  });

  it('spreads organizations over shards, and takes from all of them', async () => {
    const sharded = crawlQueue(redis.client, { shards: 4 });
    const organizations = Array.from({ length: 12 }, (_, n) => `org-${n}`);
    for (const organizationId of organizations)
      await sharded.enqueue({ jobId: `of-${organizationId}`, organizationId, band: 0, delayMs: 0 });
    const taken = await sharded.take('node', 20, 256);
    assert.equal(taken.length, 12);
    for (const { jobId, organizationId } of taken) {
      const shard = shardOf(organizationId, 4);
      assert.notEqual(await redis.client.zscore(shardKeys(shard, 4).leased, jobId), null);
    }
    for (const ref of taken) assert.equal(await sharded.end(ref), true);
  });

  it('warns, at each connection to a Redis that may evict keys, of what to type', async () => {
    await redis.client.config('SET', 'maxmemory-policy', 'allkeys-lru');
    const warned = Promise.withResolvers<string>();
    const logger = { ...createLogger('test', 'silent'), warn: warned.resolve } as unknown as Logger;
    warnOfEviction(redis.client, logger);
    assert.match(await warned.promise, /allkeys-lru.*config set maxmemory-policy noeviction/);
    await redis.client.config('SET', 'maxmemory-policy', 'noeviction');
    await requireNoEviction(redis.client);
  });

  it('wakes who waits for work', async () => {
    const woken = queue.waitForWork(60_000);
    await enqueue('a');
    await woken;
  });
});

describe('the cap on the leases of an organization', () => {
  const CAP = 3;
  let caps: Record<string, number | null>;
  let capped: CrawlQueue;
  const leaseCapOf = async (organizationId: string) => caps[organizationId] ?? null;
  const job = (jobId: string, organizationId = 'org') => ({ jobId, organizationId, band: 0 as const, delayMs: 0 });
  const jobs = (count: number, organizationId = 'org') =>
    Array.from({ length: count }, (_, n) => job(`${organizationId}-${n}`, organizationId));
  const noLeases = async () => {};
  const ringOf = () => redis.client.zrange(keys.ring, '0', '-1');

  before(async () => {
    redis = await startRedis();
    capped = crawlQueue(redis.client, { leaseCapOf });
  });
  beforeEach(async () => {
    caps = { org: CAP };
    await redis.client.flushall();
    await capped.whileAdopting(noLeases);
  });
  after(() => redis.stop());

  it('holds whoever asks at the same time, and leaves the turns of others alone', async () => {
    await capped.enqueueAll([...jobs(20), ...jobs(20, 'other')]);
    const queues = Array.from({ length: 6 }, () => crawlQueue(redis.client));
    const taken = (await Promise.all(queues.map((one, n) => one.take(`node-${n}`, 4, 4)))).flat();
    assert.equal(taken.length, 24 - 1, 'three and the twenty of the other one');
    assert.equal(taken.filter(({ organizationId }) => organizationId === 'org').length, CAP);
    assert.deepEqual(await ringOf(), [], 'an organization at its cap costs no look');
  });

  it('gives the next job when a lease ends, runs out or is forgotten, and wakes a node for it', async () => {
    await capped.enqueueAll(jobs(20));
    const [first, second, third] = await capped.take('node', 32, 256);
    assert.deepEqual(await capped.take('node', 32, 256), []);
    const woken = capped.waitForWork(600_000);
    assert.equal(await capped.end(first!), true);
    await woken;
    assert.equal((await capped.take('node', 32, 256)).length, 1);
    await expire(keys.leased, second!.jobId);
    const wokenAgain = capped.waitForWork(600_000);
    assert.deepEqual(await capped.reap(), [second]);
    await wokenAgain;
    assert.equal((await capped.take('node', 32, 256)).length, 1);

    await redis.client.del(keys.job(third!.jobId));
    await redis.client.zadd(keys.leases('org'), Date.now() - 700_000, third!.jobId);
    await capped.enqueueAll(jobs(20).slice(10));
    assert.equal((await capped.take('node', 32, 256)).length, 1, 'what lost its keys counts no longer');
  });

  it('holds for delayed jobs, and for a job that goes back to the queue', async () => {
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

  it('holds when Redis has lost everything: nothing is given before all leases are known again', async () => {
    await capped.enqueueAll(jobs(5));
    const held = await capped.take('node', 32, 256);
    await redis.client.flushall();
    await capped.enqueueAll([...jobs(20), ...jobs(20, 'free')]);
    assert.equal(await capped.isAdopted(), false);
    const early = await capped.take('node', 32, 256);
    assert.deepEqual(new Set(early.map(({ organizationId }) => organizationId)), new Set(['free']));
    await redis.client.del(...held.map(({ jobId }) => keys.job(jobId)));
    await capped.whileAdopting(async () => {
      for (const ref of held) assert.equal(await capped.adopt(ref, { band: 0, nodeId: 'node' }), true);
    });
    assert.equal(await capped.isAdopted(), true);
    assert.deepEqual(await capped.take('node', 32, 256), []);
    await capped.end(held[0]!);
    assert.equal((await capped.take('node', 32, 256)).length, 1);
  });

  it('is not sure of the leases when Redis lost its data while they were made known', async () => {
    await assert.rejects(
      capped.whileAdopting(async () => void (await redis.client.flushall())),
      /no such key/,
    );
    assert.equal(await capped.isAdopted(), false);
  });

  it('changes while jobs wait', async () => {
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
});

describe('PROTOCOL.md', () => {
  const text = readFileSync(new URL(import.meta.resolve('@adsweep/shared/lease/PROTOCOL.md')), 'utf8');
  const cells = (heading: string) =>
    text
      .split(heading)[1]!
      .split('\n\n')[1]!
      .split('\n')
      .slice(2)
      .map((row) => row.split('|')[1]!.trim().replaceAll('`', ''));

  it('names exactly the keys that the code makes', () => {
    const { prefix: _, job, waiting, band, turns, leases, node, ...fixed } = keys;
    const made = [
      band(0).replace(':0', ':<band>'),
      leases('<org>'),
      node('<node>'),
      job('<job>'),
      waiting('<org>', 0).replace(':0:', ':<band>:'),
      turns('<org>'),
      ...Object.values(fixed),
    ];
    assert.deepEqual(cells('## The keys').sort(), made.sort());
  });

  it('names exactly the scripts that there are', () => {
    const files = readdirSync(new URL('../src/crawling/queue/scripts/', import.meta.url));
    assert.deepEqual(cells('## The transitions').sort(), files.map((file) => file.replace('.lua', '')).sort());
  });
});
