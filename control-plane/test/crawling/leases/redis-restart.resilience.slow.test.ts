import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { newId } from '@adsweep/shared/ids.ts';
import { refill } from '../../../src/crawling/leases/refill.ts';
import { assertOnce, processAll, SEEN } from '../../support/outcomes.ts';
import { type RunningFarm, runningFarm } from '../../support/running-farm.ts';

let farm: RunningFarm;
before(async () => {
  farm = await runningFarm();
});
after(() => farm.stop());

it('when Redis restarts without its data, no scan is lost and none is accepted twice', async () => {
  const ids = await Promise.all(Array.from({ length: 12 }, async () => (await farm.submit())._id));
  const { leases } = await farm.node.acquire({ node_id: 'node-1', max: 6, wait_ms: 0 });
  const [early, meanwhile, renewed, ...kept] = leases;
  assert.ok(early && meanwhile && renewed);
  await farm.node.complete(early, SEEN);

  await farm.redis.kill();
  await farm.node.complete(meanwhile, SEEN);
  assert.equal((await farm.node.renew(renewed)).outcome, 'renewed');
  const stored = newId();
  await assert.rejects(farm.submit({ _id: stored }), 'it is stored, and not queued');

  await farm.redis.start();
  assert.deepEqual(await farm.redis.client.keys('{q*:job:*'), []);
  await refill(farm.farm.dependencies);
  await farm.node.complete(early, SEEN);
  for (const lease of kept) assert.equal((await farm.node.renew(lease)).outcome, 'renewed');
  for (const lease of [renewed, ...kept]) await farm.node.complete(lease, SEEN);
  await processAll(farm, [...ids, stored]);
  await assertOnce(farm, [...ids, stored]);
  const [first] = ids.filter((id) => id === renewed.scan_id);
  assert.equal((await farm.read(first!)).lost_requeues, 0, 'a lease that was held all the time is not lost');
});
