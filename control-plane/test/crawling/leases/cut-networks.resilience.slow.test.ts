import assert from 'node:assert/strict';
import { it, type TestContext } from 'node:test';
import { newId } from '@adsweep/shared/ids.ts';
import { NodeApiError } from '@adsweep/shared/lease/client.ts';
import { createLogger } from '@adsweep/shared/service/logger.ts';
import { until } from '../../../../shared/test/support/until.ts';
import { reap } from '../../../src/crawling/leases/reaper.ts';
import { refill } from '../../../src/crawling/leases/refill.ts';
import { openRedis, redisReady } from '../../../src/platform/redis.ts';
import { CuttableLink } from '../../support/cuttable-link.ts';
import { NODE_TOKEN } from '../../support/open-plane.ts';
import { assertOnce, processAll, SEEN } from '../../support/outcomes.ts';
import { runningFarm } from '../../support/running-farm.ts';
import { SimulatedNode } from '../../support/simulated-node.ts';

const READY_MS = 60_000;

/** A farm whose control plane reaches Redis through a link that can be cut. */
async function farmWithLinkToRedis(t: TestContext) {
  let link: CuttableLink | undefined;
  const farm = await runningFarm({
    connect: async ({ socket }) => {
      link = await CuttableLink.open(() => ({ path: socket }));
      const redis = openRedis(`redis://127.0.0.1:${link.port}`, createLogger('test', 'silent'));
      await redisReady(redis, READY_MS);
      return redis;
    },
  });
  t.after(async () => {
    await farm.stop();
    await link?.close();
  });
  return { farm, link: link! };
}

for (const isReset of [true, false])
  it(`when the network between control plane and Redis is cut and ${isReset ? 'drops' : 'delivers'} what was sent, no scan is lost and none is accepted twice`, async (t) => {
    const { farm, link } = await farmWithLinkToRedis(t);
    const ids = await Promise.all(Array.from({ length: 8 }, async () => (await farm.submit())._id));
    const { leases } = await farm.node.acquire({ node_id: 'node-1', max: 4, wait_ms: 0 });
    const [first, second, third, fourth] = leases;
    assert.ok(first && second && third && fourth);

    link.cut();
    const stored = newId();
    const [renewed, asked] = await Promise.all([
      farm.node.renew(second),
      farm.node.acquire({ node_id: 'node-1', max: 4, wait_ms: 0 }).then(
        () => null,
        (error: unknown) => error,
      ),
      farm.node.complete(first, SEEN),
      farm.node.release(third),
      assert.rejects(farm.submit({ _id: stored }), 'it is stored, and not queued'),
    ]);
    assert.equal(renewed.outcome, 'renewed', 'MongoDB names its lease');
    assert.ok(asked instanceof NodeApiError && asked.status === 503);

    link.restore(isReset);
    const answers = () => farm.parts.redis.ping().then(Boolean, () => false);
    await until('Redis to answer', answers, 60);
    await refill(farm.farm.dependencies);
    await farm.node.complete(first, SEEN);
    await farm.node.complete(second, SEEN);
    assert.equal((await farm.node.renew(fourth)).outcome, 'renewed');
    await farm.node.complete(fourth, SEEN);
    // No node has the leases that the interrupted acquire may have taken: they expire.
    const { dependencies, queue } = farm.farm;
    for (const id of ids) await farm.expireLease(id);
    await reap(dependencies, new Date());
    await refill(dependencies);
    await processAll(farm, [...ids, stored]);
    await assertOnce(farm, [...ids, stored]);
    // One that Redis gave in an answer that was lost ends with its time, whatever became of its scan.
    for (const id of [...ids, stored]) await farm.expireLease(id);
    await reap(dependencies, new Date());
    assert.equal((await queue.depth()).leased, 0);
  });

it('when the network between node and control plane is cut, no scan is lost and none is accepted twice', async (t) => {
  const farm = await runningFarm();
  const link = await CuttableLink.open(() => ({ port: Number(new URL(farm.baseUrl).port) }));
  t.after(async () => {
    await link.close();
    await farm.stop();
  });
  const remote = new SimulatedNode(`http://127.0.0.1:${link.port}`, NODE_TOKEN);
  const ids = await Promise.all(Array.from({ length: 3 }, async () => (await farm.submit())._id));
  const { leases } = await remote.acquire({ node_id: 'remote', max: 3, wait_ms: 0 });
  const [late, inTime, held] = leases;
  assert.ok(late && inTime && held);

  link.cut();
  const [lateEnd, inTimeEnd, renewal] = [
    remote.complete(late, SEEN),
    remote.complete(inTime, SEEN),
    remote.renew(held),
  ];
  lateEnd.catch(() => undefined);
  await farm.expireLease(late.job.job_id);
  await reap(farm.farm.dependencies, new Date());
  const again = await farm.acquireOne();
  assert.equal(again.scan_id, late.scan_id);
  await farm.node.complete(again, SEEN);

  link.restore(false);
  await assert.rejects(lateEnd, (error: NodeApiError) => error.code === 'lease.lost');
  await inTimeEnd;
  assert.equal((await renewal).outcome, 'renewed');
  await remote.complete(held, SEEN);
  await remote.complete(inTime, SEEN);
  await processAll(farm, ids);
  await assertOnce(farm, ids);
  assert.equal((await farm.read(late.scan_id)).lost_requeues, 1);
});
