import assert from 'node:assert/strict';
import { after, beforeEach, describe, it } from 'node:test';
import { seededRandom } from '../../../../shared/test/support/seeded-random.ts';
import type { LeaseRef, PriorityClass } from '../../../src/crawling/queue/queue-shards.ts';
import { idsOf, keys, startQueue } from '../../support/running-queue.ts';

/** How slots are shared between organizations whose pages take different times. The times are simulated. */
const { enqueue, expire, queue, redis, take } = await startQueue();
beforeEach(() => redis.client.flushall());
after(() => redis.stop());

/** Jobs of an organization that are queued at `at` and take `seconds` each. */
type Load = { organizationId: string; jobs: number; seconds: number; at?: number };
type Running = { ref: LeaseRef; seconds: number; endsAt: number };

/**
 * Lets slots work off the loads for `until` simulated seconds; returns when each organization's last job ended, and its
 * slot seconds.
 */
async function simulate(loads: Load[], { slots = 4, until = Number.POSITIVE_INFINITY } = {}) {
  const arrivals = [...loads].sort((one, other) => (one.at ?? 0) - (other.at ?? 0));
  const [lastEnd, slotSeconds] = [new Map<string, number>(), new Map<string, number>()];
  const running: Running[] = [];
  let number = 0;
  for (let now = 0; now < until; ) {
    while (arrivals[0] && (arrivals[0].at ?? 0) <= now) {
      const { organizationId, jobs } = arrivals.shift()!;
      const batch = Array.from({ length: jobs }, () => ({
        jobId: `${number++}`,
        organizationId,
        priority: 1 as const,
        delayMs: 0,
      }));
      await queue.enqueueAll(batch);
    }
    for (const ref of await take(slots - running.length)) {
      const { seconds } = loads.find(({ organizationId }) => organizationId === ref.organizationId)!;
      running.push({ ref, seconds, endsAt: now + seconds });
    }
    running.sort((one, other) => one.endsAt - other.endsAt);
    if (running.length === 0 && arrivals.length === 0) break;
    now = Math.min(running[0]?.endsAt ?? Number.POSITIVE_INFINITY, arrivals[0]?.at ?? Number.POSITIVE_INFINITY);
    while (running[0] && running[0].endsAt <= now) {
      const { ref, seconds } = running.shift()!;
      await endAfter(ref, seconds);
      lastEnd.set(ref.organizationId, now);
      slotSeconds.set(ref.organizationId, (slotSeconds.get(ref.organizationId) ?? 0) + seconds);
    }
  }
  return { lastEnd, slotSeconds };
}

/** Makes the lease one that began so long ago. */
async function leasedSince({ jobId }: LeaseRef, seconds: number): Promise<void> {
  if (await redis.client.hexists(keys.job(jobId), 'since'))
    await redis.client.hincrby(keys.job(jobId), 'since', -1000 * seconds);
}

async function endAfter(ref: LeaseRef, seconds: number): Promise<void> {
  await leasedSince(ref, seconds);
  assert.equal(await queue.end(ref), true);
}

/** How many of the next leases an organization gets. */
async function leasesOf(organizationId: string, of: number): Promise<number> {
  return (await take(of)).filter((ref) => ref.organizationId === organizationId).length;
}

describe('the slot time of organizations', () => {
  it('lets 12 pages of 2 s end soon after the pages of 20 s that ran before them, although 40 of these are waiting', async () => {
    const { lastEnd } = await simulate([
      { organizationId: 'slow', jobs: 40, seconds: 20 },
      { organizationId: 'light', jobs: 12, seconds: 2, at: 1 },
    ]);
    assert.ok(lastEnd.get('light')! <= 30, `${lastEnd.get('light')} s`);
  });

  it('is shared equally while both have work, so that slow pages get their share too', async () => {
    const { slotSeconds } = await simulate(
      [
        { organizationId: 'slow', jobs: 100, seconds: 20 },
        { organizationId: 'light', jobs: 1_000, seconds: 2 },
      ],
      { until: 400 },
    );
    const share = slotSeconds.get('slow')! / (slotSeconds.get('slow')! + slotSeconds.get('light')!);
    assert.ok(share > 0.45 && share < 0.55, `${share}`);
  });

  it('is remembered of an organization that queues its pages one by one', async () => {
    const oneByOne = Array.from({ length: 40 }, (_, at) => ({
      organizationId: 'slow',
      jobs: 1,
      seconds: 20,
      at: at * 5,
    }));
    const { slotSeconds } = await simulate([{ organizationId: 'light', jobs: 1_000, seconds: 2 }, ...oneByOne], {
      until: 200,
      slots: 2,
    });
    const share = slotSeconds.get('slow')! / (slotSeconds.get('slow')! + slotSeconds.get('light')!);
    assert.ok(share > 0.4 && share < 0.6, `${share}`);
  });

  it('gives many jobs at once in the order in which it gives them one by one', async () => {
    const random = seededRandom(3);
    const below = (limit: number) => Math.floor(random() * limit);
    const jobs = Array.from({ length: 240 }, (_, n) => ({
      ...{
        jobId: `${n}`,
        organizationId: `org-${below(6) * below(9)}`,
        priority: below(3) as PriorityClass,
        delayMs: 0,
      },
    }));
    const organizations = [...new Set(jobs.map(({ organizationId }) => organizationId))];
    assert.ok(organizations.length > 20);
    const slotTimes = organizations.flatMap((organizationId) => [below(12) * 1_000_000, organizationId]);
    const taken = async (max: number): Promise<string[]> => {
      await redis.client.flushall();
      await queue.enqueueAll(jobs);
      await redis.client.zadd(keys.roundRobin, ...slotTimes);
      const ids: string[] = [];
      while (ids.length < jobs.length) {
        const some = idsOf(await take(max));
        assert.ok(some.length > 0);
        ids.push(...some);
      }
      return ids;
    };
    const expected = await taken(1);
    for (const max of [3, 8, 50, 240]) assert.deepEqual(await taken(max), expected, `${max} at once`);
  });

  it('includes leases that expire', async () => {
    for (const organizationId of ['lost', 'other'])
      for (let n = 0; n < 20; n += 1) await enqueue(`${organizationId}-${n}`, organizationId);
    const refs = await take(2);
    const lost = refs.find(({ organizationId }) => organizationId === 'lost')!;
    await leasedSince(lost, 60);
    await expire(keys.leased, lost.jobId);
    assert.equal((await queue.reap()).length, 1);
    await redis.client.del(keys.lost);
    assert.equal(await leasesOf('other', 8), 8);
  });

  it('is kept when an organization cancels what waits and queues it again', async () => {
    for (const organizationId of ['slow', 'other'])
      for (let n = 0; n < 20; n += 1) await enqueue(`${organizationId}-${n}`, organizationId);
    const refs = await take(2);
    await endAfter(refs.find(({ organizationId }) => organizationId === 'slow')!, 60);
    for (let n = 0; n < 20; n += 1) await queue.drop('slow', `slow-${n}`);
    for (let n = 0; n < 20; n += 1) await enqueue(`again-${n}`, 'slow');
    assert.equal(await leasesOf('slow', 8), 0);
  });

  it('begins again for all if its keys are lost: nobody is preferred for long', async () => {
    await simulate([{ organizationId: 'old', jobs: 300, seconds: 20 }], { until: 900 });
    await redis.client.del(keys.clock, keys.spent);
    await queue.enqueueAll(
      Array.from({ length: 300 }, (_, n) => ({ jobId: `new-${n}`, organizationId: 'new', priority: 1, delayMs: 0 })),
    );
    const first = await leasesOf('new', 200);
    assert.ok(first >= 100 && first < 200, `${first}`);
  });

  it('takes over the round-robin set and the leases of an earlier version', async () => {
    for (const organizationId of ['one', 'two'])
      for (let n = 0; n < 10; n += 1) await enqueue(`${organizationId}-${n}`, organizationId);
    await redis.client.del(keys.clock);
    await redis.client.zadd(keys.roundRobin, 1_763_000_000_000_001, 'one', 1_763_000_000_000_000, 'two');
    const refs = await take(2);
    for (const ref of refs) {
      await redis.client.hdel(keys.job(ref.jobId), 'since', 'charged');
      assert.equal(await queue.end(ref), true);
    }
    assert.equal(await leasesOf('one', 8), 4);
  });

  it('is forgotten when nobody waits', async () => {
    const loads = Array.from({ length: 20 }, (_, n) => ({ organizationId: `org-${n}`, jobs: 1, seconds: 2, at: n }));
    await simulate(loads);
    assert.ok((await redis.client.zcard(keys.spent)) <= 4);
  });
});
