import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import type { Lease } from '@adsweep/shared/lease/messages.ts';
import type { Quotas } from '../../../src/accounts/organizations/organization.ts';
import { newOrganization } from '../../../src/accounts/organizations/organization.ts';
import { refill } from '../../../src/crawling/leases/refill.ts';
import { captureOf, type RunningFarm, runningFarm } from '../../support/running-farm.ts';
import type { LeaseOfFirst } from '../../support/simulated-node.ts';

const CAP = 3;
let farm: RunningFarm;
before(async () => {
  farm = await runningFarm();
  await setCap(CAP);
  await refill(farm.farm.dependencies);
});
after(() => farm.stop());

/** The quota that the operator sets. */
async function setCap(concurrent_leases: number): Promise<void> {
  const organization = newOrganization({ _id: 'capped', name: 'Capped' }, new Date());
  const quotas: Quotas = { ...organization.quotas, concurrent_leases };
  await farm.store
    .collection<typeof organization>('organizations')
    .updateOne({ _id: 'capped' }, { $set: { ...organization, quotas } }, { upsert: true });
}

const ask = async (name: string, max: number): Promise<LeaseOfFirst[]> =>
  (await farm.node.acquire({ node_id: name, max, wait_ms: 0 })).leases;
const complete = (lease: LeaseOfFirst) => farm.node.complete(lease, captureOf(['https://shop.example/']));
const running = () => farm.store.collection('scans').countDocuments({ organization_id: 'capped', status: 'running' });

it('§5.7 an organization has no more leases at once than its quota, also for concurrent requests and after Redis lost data', async () => {
  for (let n = 0; n < 12; n += 1) await farm.submit({ organization_id: 'capped' });
  const other = await farm.submit();
  const asked = await Promise.all(['one', 'two', 'three', 'four'].map((name) => ask(name, 8)));
  const leases = asked.flat();
  const own = leases.filter(({ scan_id }) => scan_id !== other._id);
  assert.deepEqual([own.length, leases.length], [CAP, CAP + 1], 'the other organization is not held up');

  await complete(own[0]!);
  const [next] = await ask('one', 8);
  assert.ok(next);
  assert.equal(await running(), CAP);

  await farm.redis.client.flushall();
  await farm.submit({ organization_id: 'capped' });
  assert.deepEqual(await ask('two', 8), [], 'nobody knows yet how many there are');
  await refill(farm.farm.dependencies);
  assert.deepEqual(await ask('two', 8), []);
  assert.equal(await running(), CAP);

  await farm.node.release(next);
  assert.equal((await ask('three', 8)).length, 1);
  const left: Lease[] = [];
  for (const lease of own.slice(1)) {
    await complete(lease);
    left.push(...(await ask('four', 8)));
  }
  assert.deepEqual([left.length, await running()], [2, CAP]);
});
