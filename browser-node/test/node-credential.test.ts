import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LeaseClient } from '@adsweep/shared/lease/client.ts';
import { FakeControlPlane } from './support/fake-control-plane.ts';
import { NODE_REPORT } from './support/lease-bench.ts';

test('a node uses the credential of its registration, and registers again when it is refused', async (t) => {
  const plane = await FakeControlPlane.start();
  t.after(() => plane.close());
  const client = new LeaseClient(plane.url, 'join-token');
  const ask = () => client.acquire({ node_id: 'node-1', max: 1, wait_ms: 0 });
  const report = () => client.report('node-1', NODE_REPORT);
  await assert.rejects(ask(), /not registered/);
  await report();
  await report();
  plane.refusals.report = [401];
  await assert.rejects(report());
  await assert.rejects(ask(), /not registered/);
  await report();
  plane.give();
  await ask();
  assert.deepEqual(
    plane.said.map(({ call, credential }) => [call, credential]),
    [
      ['report', 'join-token'],
      ['report', 'node-credential'],
      ['refused report', 'node-credential'],
      ['report', 'join-token'],
      ['acquire', 'node-credential'],
    ],
  );
});
