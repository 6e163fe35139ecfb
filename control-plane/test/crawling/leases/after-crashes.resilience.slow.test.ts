import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { NodeApiError } from '@adsweep/shared/lease/client.ts';
import { until } from '../../../../shared/test/support/until.ts';
import { startReaper } from '../../../src/crawling/leases/reaper.ts';
import { refill, startRefill } from '../../../src/crawling/leases/refill.ts';
import { shardKeys } from '../../../src/crawling/queue/queue-shards.ts';
import { cancelScan } from '../../../src/scan/cancel.ts';
import { captureOf, type RunningFarm, runningFarm } from '../../support/running-farm.ts';

const CHAIN = ['https://shop.example/'];
let farm: RunningFarm;
before(async () => {
  farm = await runningFarm();
});
afterEach(() => farm.forgetScans());
after(() => farm.stop());

const refillNow = () => refill(farm.farm.dependencies);

describe('after a crash', () => {
  it('of Redis with all its data, captures continue and waiting jobs are queued again', async () => {
    const lease = await farm.leased();
    const waiting = await farm.submit();
    await farm.redis.kill();
    assert.equal((await farm.node.renew(lease)).outcome, 'renewed', 'MongoDB names the lease');
    await assert.rejects(
      farm.node.acquire({ node_id: 'node', max: 1, wait_ms: 0 }),
      (error) => error instanceof NodeApiError && error.status === 503,
    );
    await farm.redis.start();
    assert.equal((await farm.node.renew(lease)).outcome, 'renewed');
    await refillNow();
    assert.equal((await farm.acquireOne()).scan_id, waiting._id);
    assert.equal(await farm.reapNow(), 0, 'both leases live');
    await farm.node.complete(lease, captureOf(CHAIN));
    assert.equal((await farm.read(lease.scan_id)).status, 'crawled');
  });

  it('of Redis and a node, the scan is queued again: its lease is adopted and expires', async () => {
    const lease = await farm.leased();
    await farm.redis.client.flushall();
    await refillNow();
    await assert.rejects(farm.acquireOne(), /no work/);
    await farm.expireLease(lease.scan_id);
    await farm.reapNow();
    assert.equal((await farm.acquireOne()).scan_id, lease.scan_id);
  });

  it('of a control plane between its writes to Redis and MongoDB, the job is leased again', async () => {
    const scan = await farm.submit();
    await farm.farm.queue.take('node', 1, 1);
    await farm.expireLease(scan._id);
    await farm.reapNow();
    assert.equal((await farm.acquireOne()).scan_id, scan._id);
  });

  it('of a control plane between its writes to MongoDB and Redis, the refill queues a new scan', async () => {
    const scan = await farm.submit();
    await farm.farm.unqueue(scan);
    await assert.rejects(farm.acquireOne(), /no work/);
    await refillNow();
    await refillNow();
    const lease = await farm.acquireOne();
    assert.equal(lease.scan_id, scan._id);
    await assert.rejects(farm.acquireOne(), /no work/);
    await farm.node.complete(lease, captureOf(CHAIN));
  });

  it('of Redis alone, the refill detects the loss of any key', async () => {
    const { dependencies } = farm.farm;
    const loop = startRefill(dependencies);
    const keys = shardKeys(0);
    const lossOf = [[keys.roundRobin], ['*:waiting:*', keys.delayed, keys.leased], ['*:job:*']];
    const find = async (pattern: string) => (pattern.includes('*') ? farm.redis.client.keys(pattern) : [pattern]);
    const lease = await farm.leased();
    const later = await farm.submit({ due_at: new Date(Date.now() + 60_000) });
    for (const patterns of lossOf) {
      const scan = await farm.submit();
      const lost = (await Promise.all(patterns.map(find))).flat();
      assert.ok(lost.length > 0);
      await farm.redis.client.del(lost);
      const again = await until(`a lease without ${patterns}`, async () => {
        const { leases } = await farm.node.acquire({ node_id: 'node', max: 1, wait_ms: 100 });
        return leases[0];
      });
      assert.equal(again.scan_id, scan._id);
      await farm.node.complete(again, captureOf(CHAIN));
      await until('everything to be in its queue', async () => {
        const depth = await dependencies.queue.depth();
        return depth.delayed === 1 && depth.leased === 1;
      });
    }
    await loop.stop();
    await farm.node.complete(lease, captureOf(CHAIN));
    await cancelScan(
      { scans: farm.scans, unqueue: farm.farm.unqueue, outboxFilled: () => {}, log: farm.parts.logger },
      later,
      new Date(),
    );
  });

  it('of Redis alone, the refill restores many lost jobs at once', async () => {
    const scans = 2_200;
    const { queue } = farm.farm.dependencies;
    const loop = startRefill(farm.farm.dependencies);
    try {
      await until('the first refill', () => queue.isAdopted());
      for (let from = 0; from < scans; from += 100)
        await Promise.all(Array.from({ length: 100 }, () => farm.submit({ organization_id: 'organization' })));
      const key = shardKeys(0).waiting('organization', 0);
      await until('a look that finds less than the ring promises', async () => {
        await farm.redis.client.del(key);
        const taken = await queue.take('node', 1, 1);
        for (const ref of taken) await queue.end(ref);
        return taken.length === 0;
      });
      await until('all of them', async () => (await farm.redis.client.zcard(key)) === scans, 60);
    } finally {
      // Before the scans are removed: it would queue those that it has read.
      await loop.stop();
    }
  });

  it('of all control planes for longer than a lease lasts, nodes have the time to renew before any lease is reaped', async () => {
    const lease = await farm.leased();
    await farm.expireLease(lease.scan_id);
    const reaper = startReaper(farm.farm.dependencies);
    assert.equal((await farm.node.renew(lease)).outcome, 'renewed');
    await reaper.stop();
    await farm.expireLease(lease.scan_id);
    const impatient = startReaper(farm.farm.dependencies, { graceMs: 0 });
    await until('the end of the lost attempt', async () => (await farm.read(lease.scan_id)).status === 'pending');
    await impatient.stop();
  });
});
