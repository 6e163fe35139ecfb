import assert from 'node:assert/strict';
import { after, beforeEach, describe, it } from 'node:test';
import type { LeaseRef } from '../../../src/crawling/queue/queue-shards.ts';
import { idsOf, keys, startQueue } from '../../support/running-queue.ts';

/** The order in which jobs are leased. */
const { enqueue, expire, queue, redis, take } = await startQueue();
beforeEach(() => redis.client.flushall());
after(() => redis.stop());

describe('the index of crawl jobs', () => {
  it('gives each organization its turn', async () => {
    for (let n = 0; n < 50; n += 1) await enqueue(`big-${n}`, 'big');
    await enqueue('small-0', 'small');
    await enqueue('other-0', 'other');
    const [first, ...others] = idsOf(await take(4));
    assert.deepEqual([first, ...others.sort()], ['big-0', 'big-1', 'other-0', 'small-0']);
  });

  it('leases four interactive jobs for every two of bulk and one of campaigns while all wait', async () => {
    for (const [priority, name] of [
      [2, 'campaign'],
      [1, 'bulk'],
      [0, 'page'],
    ] as const)
      for (let n = 0; n < 8; n += 1) await enqueue(`${name}-${n}`, 'org', priority);
    const classesOf = (refs: LeaseRef[]) => idsOf(refs).map((id) => id.split('-')[0]);
    const turns = ['page', 'page', 'bulk', 'page', 'page', 'bulk', 'campaign'];
    assert.deepEqual(classesOf(await take(14)), [...turns, ...turns]);
    assert.deepEqual(classesOf(await take(10)), [...Array(4).fill('bulk'), ...Array(6).fill('campaign')]);
  });

  it('leases the one scan of an organization within two turns while another has 10,000 waiting', async () => {
    const many = Array.from({ length: 10_000 }, (_, n) => ({
      jobId: `many-${n}`,
      organizationId: 'many',
      priority: 1 as const,
      delayMs: 0,
    }));
    assert.equal(await queue.enqueueAll(many), 10_000);
    await take(20);
    await enqueue('single', 'another');
    assert.ok(idsOf(await take(2)).includes('single'));
    assert.equal((await queue.depth()).waiting[1], 10_000 - 21);
  });

  it('leases the job that was due first, even if it was queued later', async () => {
    await enqueue('now');
    await enqueue('long-due', 'org', 0, -60_000);
    assert.deepEqual(idsOf(await take(2)), ['long-due', 'now']);
  });

  it('does not lease a delayed job before it is due', async () => {
    await enqueue('a', 'org', 0, 60_000);
    assert.deepEqual(await take(1), []);
    await expire(keys.delayed, 'a');
    assert.deepEqual(idsOf(await take(1)), ['a']);
  });
});
