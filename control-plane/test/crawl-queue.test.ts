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
    assert.deepEqual(idsOf(await take(4)), ['big-0', 'small-0', 'other-0', 'big-1']);
  });

  it('gives three interactive jobs for one of bulk while both wait', async () => {
    for (let n = 0; n < 6; n += 1) await enqueue(`bulk-${n}`, 'org', 1);
    for (let n = 0; n < 6; n += 1) await enqueue(`page-${n}`, 'org', 0);
    const order = idsOf(await take(12));
    assert.deepEqual(order.slice(0, 8), [
      'page-0',
      'page-1',
      'page-2',
      'bulk-0',
      'page-3',
      'page-4',
      'page-5',
      'bulk-1',
    ]);
    assert.deepEqual(order.slice(8), ['bulk-2', 'bulk-3', 'bulk-4', 'bulk-5']);
  });

  it('keeps a delayed job back until it is due', async () => {
    await enqueue('a', 'org', 0, 60_000);
    assert.deepEqual(await take(1), []);
    await expire(keys.delayed, 'a');
    assert.deepEqual(idsOf(await take(1)), ['a']);
  });

  it('leases a node no more than it has slots, whoever asks at the same time, and again as leases end or run out', async () => {
    const [other, sharded] = [crawlQueue(redis.client), crawlQueue(redis.client, 3)];
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
    assert.equal(await queue.adopt({ shard: 0, jobId: 'waiting', fence: 1, organizationId: 'org' }, job), false);
    assert.equal(await queue.adopt({ shard: 0, jobId: 'delayed', fence: 1, organizationId: 'org' }, job), false);
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
    assert.deepEqual(await queue.depth(), { waiting: { 0: 1, 1: 2 }, delayed: 1, leased: 1 });
  });

  it('takes a scan again when any of its keys is gone, and gives it once', async () => {
    const lost = [keys.ring, keys.waiting('org', 0), keys.turns('org'), keys.job('a'), keys.fence];
    for (const key of lost) {
      await redis.client.flushall();
      await enqueue('a');
      await redis.client.del(key);
      await enqueue('a');
      assert.equal(await enqueue('a'), false);
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
    const sharded = crawlQueue(redis.client, 4);
    const organizations = Array.from({ length: 12 }, (_, n) => `org-${n}`);
    for (const organizationId of organizations)
      await sharded.enqueue({ jobId: `of-${organizationId}`, organizationId, band: 0, delayMs: 0 });
    const taken = await sharded.take('node', 20, 256);
    assert.equal(taken.length, 12);
    for (const { shard, jobId } of taken) assert.equal(shard, shardOf(jobId.slice(3), 4));
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
    const { prefix: _, job, waiting, turns, node, ...fixed } = keys;
    const made = [
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
